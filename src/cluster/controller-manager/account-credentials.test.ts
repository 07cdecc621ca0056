import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notFound, StatusError } from '../../machinery/status-error.ts'
import { accountCredentials, type TokenClient } from './account-credentials.ts'

const hourMs = 3600_000

/** A cluster that issues tokens `1`, `2`, …, each valid for an hour, to existing accounts. */
function cluster({ accounts = ['job-controller'], namespaces = ['kube-system'] } = {}) {
  let now = 0
  let given = 0
  const made: string[] = []
  const state = { refuses: false }
  const giver: TokenClient = {
    async createUnder<Answer>(_of: unknown, _namespace: string, name: string) {
      if (state.refuses) throw new StatusError(500, 'InternalError', 'not now')
      if (!accounts.includes(name)) throw notFound({ group: '', name: 'serviceaccounts' }, name)
      return { status: { token: `${++given}`, expirationTimestamp: new Date(now + hourMs).toISOString() } } as Answer
    },
    find: async (_of, _namespace, name) => (namespaces.includes(name) ? ({} as never) : undefined),
    async create(of, object) {
      const { name = '' } = object.metadata
      made.push(`${of.kind} ${name}`)
      if (of.kind === 'ServiceAccount') accounts.push(name)
      return object
    },
  }
  const credentials = accountCredentials(giver, 'kube-system', 'job-controller', () => now)
  return { credentials, made, state, pass: (ms: number) => void (now += ms), given: () => given }
}

test('concurrent requests share one token, which is renewed when a fifth of its lifetime is left', async () => {
  const { credentials, pass } = cluster()
  const first = await Promise.all([credentials.authorization?.(), credentials.authorization?.()])
  assert.deepEqual(first, ['Bearer 1', 'Bearer 1'])
  pass(hourMs * 0.79)
  assert.equal(await credentials.authorization?.(), 'Bearer 1')
  pass(hourMs * 0.02)
  assert.equal(await credentials.authorization?.(), 'Bearer 2')
})

test('the old token is used until it expires if renewal fails', async () => {
  const { credentials, state, pass } = cluster()
  await credentials.authorization?.()
  state.refuses = true
  pass(hourMs * 0.9)
  assert.equal(await credentials.authorization?.(), 'Bearer 1')
  pass(hourMs * 0.2)
  await assert.rejects(async () => credentials.authorization?.(), /not now/)
})

test('a missing account and its namespace are created', async () => {
  const { credentials, made } = cluster({ accounts: [], namespaces: [] })
  assert.equal(await credentials.authorization?.(), 'Bearer 1')
  assert.deepEqual(made, ['Namespace kube-system', 'ServiceAccount job-controller'])
})

test('a rejected token is renewed, but not with each request', async () => {
  const { credentials, pass, given } = cluster()
  await credentials.authorization?.()
  assert.equal(credentials.invalidate?.(), false)
  pass(10_000)
  assert.equal(credentials.invalidate?.(), true)
  assert.equal(await credentials.authorization?.(), 'Bearer 2')
  assert.equal(given(), 2)
})
