"""Spidermon: monitors of the gate, one by one and as a suite."""

from simhash_gate.plugin.spidermon import (
    CollapsesMonitor,
    DroppedMonitor,
    GateMonitorSuite,
    UnjudgedMonitor,
    WrongDropsMonitor,
)

__all__ = [
    "CollapsesMonitor",
    "DroppedMonitor",
    "GateMonitorSuite",
    "UnjudgedMonitor",
    "WrongDropsMonitor",
]
