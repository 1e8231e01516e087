"""From the records of stores, chats and benchmarks to one ordered `Memory`.

Pure functions over parsed JSON or over the objects that the packages return; none of those
packages is imported. Facts and words of the user are taken over with who said them and when;
annotations beside them stay out. What a record does not tell is never made up, and what a
converter cannot see (a page of many, a text that was overwritten) it says in an `InputWarning`
or refuses.
"""
