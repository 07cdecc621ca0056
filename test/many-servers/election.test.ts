/** Candidates of one election at different servers of a store. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Connection } from '../../src/client/connection/connection.ts'
import { bearerToken } from '../../src/client/connection/credentials/credentials.ts'
import { LeaderElector } from '../../src/client/election/leader-election.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { authority, serve, type TestServer, token } from '../support/api-server.ts'
import { waitFor } from '../support/wait-for.ts'
import { laggingStore } from './lagging-store.ts'

const durations = { leaseDurationMs: 2000, renewDeadlineMs: 1500, retryPeriodMs: 200 }

/** Candidates that count how many lead. */
class Election {
  readonly leading = new Set<string>()
  most = 0
  terms = 0
  readonly #t: TestContext

  constructor(t: TestContext) {
    this.#t = t
  }

  /** Resolves at the end of the candidate's only term. */
  candidate(identity: string, { url }: TestServer, signal: AbortSignal): Promise<string> {
    const connection = new Connection({ url, ca: authority.cert, credentials: bearerToken(token) })
    this.#t.after(() => connection.close())
    const client = new RestClient(connection)
    const elector = new LeaderElector({ client, namespace: 'default', name: 'work', identity, ...durations })
    return elector.run(async (term) => {
      this.leading.add(identity)
      this.terms++
      this.most = Math.max(this.most, this.leading.size)
      await new Promise((resolve) => term.addEventListener('abort', resolve, { once: true }))
      this.leading.delete(identity)
    }, signal)
  }
}

test('candidates at two servers never lead at the same time, and replace one whose server ended', async (t) => {
  const store = memoryStore()
  t.after(() => store.close())
  const [one, two] = await Promise.all([serve(t, laggingStore(store, 50)), serve(t, laggingStore(store, 50))])
  const election = new Election(t)
  const stopping = new AbortController()
  t.after(() => stopping.abort())
  const first = election.candidate('first', one, stopping.signal)
  await waitFor('the first to lead', () => election.leading.has('first'))
  const others = ['a', 'b', 'c', 'd'].map((name) => ({ name, stop: new AbortController() }))
  const ended = others.map(({ name, stop }) => election.candidate(name, two, stop.signal))
  await one.stop(0)
  assert.equal(await first, 'lost')
  for (let term = 2; term <= 1 + others.length; term++) {
    await waitFor('the next one to lead', () => election.terms === term && election.leading.size === 1)
    others.find(({ name }) => election.leading.has(name))?.stop.abort()
  }
  assert.deepEqual(await Promise.all(ended), ['stopped', 'stopped', 'stopped', 'stopped'])
  assert.equal(election.most, 1)
})
