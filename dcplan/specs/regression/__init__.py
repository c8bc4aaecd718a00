"""Tables of verbs that compare answers: ``diff`` and ``test``."""
