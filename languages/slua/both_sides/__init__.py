"""What may stand between two parts of a script: the text right of the cursor must fit, by its types too."""
