"""What deletes, and what checks: plan and sweep, and verify of the whole store."""
