/** Counters of network interfaces, from `/proc/PID/net/dev`. */

export interface InterfaceCounters {
  readonly name: string
  readonly rxBytes: number
  readonly rxPackets: number
  readonly rxErrors: number
  readonly rxDropped: number
  readonly txBytes: number
  readonly txPackets: number
  readonly txErrors: number
  readonly txDropped: number
}

export const interfacesIn = (text: string): InterfaceCounters[] =>
  text
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => {
      const [name = '', counters = ''] = line.split(':')
      const values = counters.trim().split(/\s+/).map(Number)
      const at = (column: number): number => values[column] ?? 0
      return {
        name: name.trim(),
        rxBytes: at(0),
        rxPackets: at(1),
        rxErrors: at(2),
        rxDropped: at(3),
        // Eight columns of received packets, then those of sent ones.
        txBytes: at(8),
        txPackets: at(9),
        txErrors: at(10),
        txDropped: at(11),
      }
    })
