"""Rules about approvals: how they are asked, answered and carried out."""
