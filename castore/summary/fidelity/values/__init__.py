"""Numbers, money, percentages, dates, times, durations and versions: found, and looked for."""
