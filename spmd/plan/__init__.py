"""Compiles a training step for hardware that is not here, and tells what that hardware would do with it."""

from spmd.plan.command import plan_command as plan_command
from spmd.plan.facts import Buffer as Buffer
from spmd.plan.facts import Memory as Memory
from spmd.plan.facts import StepFacts as StepFacts
from spmd.plan.page import plan_page as plan_page
from spmd.plan.planning import plan as plan
from spmd.plan.process import compile_step as compile_step
from spmd.plan.report import Plan as Plan
from spmd.plan.report import make_plan as make_plan
from spmd.plan.request import Request as Request
from spmd.plan.terminal import print_plan as print_plan
from spmd.plan.topologies import Topology as Topology
from spmd.plan.topologies import parse_topology as parse_topology
