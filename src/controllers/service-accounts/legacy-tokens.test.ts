import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Secret, ServiceAccount } from '../../client/kinds.ts'
import { nextStep } from './legacy-tokens.ts'

const dayMs = 24 * 3600 * 1000
const now = Date.parse('2026-01-31T12:00:00Z')
const account: ServiceAccount = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'a' },
  secrets: [{ name: 's' }],
}
const secret = (labels: Record<string, string> = {}, created = '2025-01-01T00:00:00Z'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', labels, creationTimestamp: created },
})
const step = (one: Secret, { isMounted = false, of = [account] } = {}) =>
  nextStep(one, { account: of[0], isMounted: () => isMounted }, 10 * dayMs, now)
const used = (day: string) => ({ 'kubernetes.io/legacy-token-last-used': day })
const invalid = (day: string) => ({ 'kubernetes.io/legacy-token-invalid-since': day })

test('generated Secrets are marked after an unused period and removed after another', () => {
  assert.equal(step(secret()), 'mark')
  assert.equal(step(secret(used('2026-01-20'))), 'mark')
  assert.equal(step(secret(used('2026-01-21'))), undefined)
  assert.equal(step(secret(invalid('2026-01-21'))), undefined)
  assert.equal(step(secret(invalid('2026-01-20'))), 'remove')
  assert.equal(step(secret(invalid('nonsense'))), 'mark')
})

test('new, mounted, manually created and unreadable Secrets are retained', () => {
  assert.equal(step(secret({}, '2026-01-25T00:00:00Z')), undefined)
  assert.equal(step(secret(), { isMounted: true }), undefined)
  assert.equal(step(secret(), { of: [{ ...account, secrets: [] }] }), undefined)
  assert.equal(step(secret(), { of: [] }), undefined)
  assert.equal(step(secret(used('long ago'))), undefined)
})
