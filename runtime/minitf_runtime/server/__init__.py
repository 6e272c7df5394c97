"""Services of a task: master.py decides, task.py acts, main.py is the process."""
