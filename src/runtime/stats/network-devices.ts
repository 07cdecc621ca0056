/** Counters of network interfaces, from `/proc/PID/net/dev`. */

export interface InterfaceCounters {
  readonly name: string
  readonly rxBytes: number
  readonly rxErrors: number
  readonly txBytes: number
  readonly txErrors: number
}

export const interfacesIn = (text: string): InterfaceCounters[] =>
  text
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => {
      const [name = '', counters = ''] = line.split(':')
      const values = counters.trim().split(/\s+/).map(Number)
      const at = (column: number): number => values[column] ?? 0
      // Eight columns of received packets, then those of sent ones.
      return { name: name.trim(), rxBytes: at(0), rxErrors: at(2), txBytes: at(8), txErrors: at(10) }
    })
