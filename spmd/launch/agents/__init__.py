"""An elastic job on several machines: an *agent* on each starts one worker, and the *leader* tells agents when."""
