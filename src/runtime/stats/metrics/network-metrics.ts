/** The metrics of a pod's network, for each of its interfaces. */
import type { InterfaceCounters } from '../network-devices.ts'
import { counter, labelled, type MetricDefinition } from './metric.ts'

type Interfaces = readonly InterfaceCounters[]

const network = (name: string, help: string, read: (one: InterfaceCounters) => number): MetricDefinition<Interfaces> =>
  labelled(
    counter(`network_${name}`, help, () => undefined),
    ['interface'],
    (interfaces) => interfaces.map((one) => [read(one), one.name]),
  )

export const networkDefinitions: readonly MetricDefinition<Interfaces>[] = [
  network('receive_bytes', 'Cumulative count of bytes received', ({ rxBytes }) => rxBytes),
  network('receive_errors', 'Cumulative count of errors encountered while receiving', ({ rxErrors }) => rxErrors),
  network('receive_packets', 'Cumulative count of packets received', ({ rxPackets }) => rxPackets),
  network(
    'receive_packets_dropped',
    'Cumulative count of packets dropped while receiving',
    ({ rxDropped }) => rxDropped,
  ),
  network('transmit_bytes', 'Cumulative count of bytes transmitted', ({ txBytes }) => txBytes),
  network('transmit_errors', 'Cumulative count of errors encountered while transmitting', ({ txErrors }) => txErrors),
  network('transmit_packets', 'Cumulative count of packets transmitted', ({ txPackets }) => txPackets),
  network(
    'transmit_packets_dropped',
    'Cumulative count of packets dropped while transmitting',
    ({ txDropped }) => txDropped,
  ),
]
