"""The ``diff`` and ``test`` verbs: references, gates, stored plans."""
