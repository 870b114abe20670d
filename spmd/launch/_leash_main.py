"""The leash's program, see guard.py: `_leash_main.py FILE COMMAND...` tells the guard, then runs COMMAND."""

import os
import sys

if __name__ == "__main__":
    _, file, *command = sys.argv
    os.write(int(file), b"+%d\n" % os.getpid())
    os.set_inheritable(int(file), False)  # else the command would hold the pipe open
    os.execvp(command[0], command)
