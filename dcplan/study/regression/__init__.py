"""The ``diff`` and ``test`` verbs: references, expectations, stored plans."""
