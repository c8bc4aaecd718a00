"""The functions of ``import dcplan``: one for each verb, with the same arguments and answers."""
