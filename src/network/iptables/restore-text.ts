/** The input of `iptables-restore --noflush`: chains that become empty, then rules and deletions, for each table. */
import type { Table } from './iptables-programs.ts'

const tables = ['filter', 'nat', 'mangle'] as const satisfies readonly Table[]

/**
 * @example
 * const text = new RestoreText()
 * text.chain('nat', 'KUBE-SERVICES', ['-d 10.96.0.1/32 -j KUBE-SVC-NPX46M4PTMTKRN6Y'])
 * await iptables.restore(text.toString())
 */
export class RestoreText {
  readonly #chains: Readonly<Record<Table, string[]>> = { filter: [], nat: [], mangle: [] }
  readonly #rules: Readonly<Record<Table, string[]>> = { filter: [], nat: [], mangle: [] }
  readonly #deleted: Readonly<Record<Table, string[]>> = { filter: [], nat: [], mangle: [] }

  /** Creates the chain, or empties it, and appends rules, which lack `-A CHAIN`. */
  chain(table: Table, name: string, rules: readonly string[] = []): void {
    this.#chains[table].push(`:${name} - [0:0]`)
    for (const rule of rules) this.#rules[table].push(`-A ${name} ${rule}`)
  }

  /** Adds full lines: `-A`, `-I` or `-D`. */
  lines(table: Table, lines: readonly string[]): void {
    for (const line of lines) this.#rules[table].push(line)
  }

  /** Deletes the chain after all rules, so that none refers to it. */
  deleteChain(table: Table, name: string): void {
    this.#chains[table].push(`:${name} - [0:0]`)
    this.#deleted[table].push(`-X ${name}`)
  }

  /** Empty if nothing changes. */
  toString(): string {
    return tables.map((table) => this.#table(table)).join('')
  }

  #table(table: Table): string {
    const lines = [...this.#chains[table], ...this.#rules[table], ...this.#deleted[table]]
    return lines.length === 0 ? '' : `*${table}\n${lines.join('\n')}\nCOMMIT\n`
  }
}
