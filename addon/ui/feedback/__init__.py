"""Panel and operators of feedback laws."""
