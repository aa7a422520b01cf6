"""How good a trained model is: measures, plain predictors to compare with, and the card that tells both."""
