/** The keys of `t8s up`, which show nodes, events and help. */
import type { RestClient, ServerAccess } from '../../../client/index.ts'
import { reasonOf } from '../../../lib/explained-error.ts'
import { type KeyInput, readKeys } from './read-keys.ts'
import { latestEvents, nodeLines } from './summaries.ts'

/** The line that names the keys. */
const keyLine = 'keys: n nodes, e events, c clear, ? help, q quit'

const help = `
  n  nodes, and the number of their pods
  e  the latest events
  c  clear the terminal
  ?  this help
  q  stop the cluster, as Ctrl-C does; Ctrl-Z suspends it
`

export interface UpKeys {
  readonly input: KeyInput
  readonly output: { write(text: string): unknown }
  /** The administrator's access to the cluster. */
  readonly access: ServerAccess
  /** Stops the cluster. */
  readonly quit: () => void
}

/**
 * Reads keys of a terminal, and shows the key line when it begins to. The returned function ends that, and restores the
 * terminal.
 */
export function showKeys({ input, output, access, quit }: UpKeys): () => void {
  const print = (text: string): void => void output.write(`${text}\n`)
  const show = async (lines: (client: RestClient) => Promise<readonly string[]>): Promise<void> => {
    try {
      const { connectTo } = await import('../../../client/connection/connect-to.ts')
      const client = await connectTo({ access, userAgent: 't8s' })
      try {
        print((await lines(client)).join('\n'))
      } finally {
        client.close()
      }
    } catch (error) {
      print(`the cluster does not answer: ${reasonOf(error)}`)
    }
  }
  return readKeys({
    input,
    onBegin: () => print(keyLine),
    actions: new Map([
      ['n', () => void show(nodeLines)],
      ['e', () => void show((client) => latestEvents(client, Date.now()))],
      ['c', () => void output.write(`\x1b[H\x1b[2J\x1b[3J${keyLine}\n`)],
      ['?', () => print(help)],
      ['q', quit],
    ]),
  })
}
