import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { UserNamespaces } from './user-namespaces.ts'

const unit = 65_536

/** A node with IDs for four pods. */
function node(t: TestContext) {
  const podsFolder = mkdtempSync(join(tmpdir(), 't8s-users-'))
  t.after(() => rmSync(podsFolder, { recursive: true, force: true }))
  const start = () =>
    new UserNamespaces({ podsFolder, range: { first: unit, length: 4 * unit }, idsPerPod: unit, maxPods: 4 })
  const fileOf = (uid: string): string => join(podsFolder, uid, 'userns')
  const record = (uid: string, record: unknown): void => {
    mkdirSync(join(podsFolder, uid))
    writeFileSync(fileOf(uid), typeof record === 'string' ? record : JSON.stringify(record))
  }
  return { start, fileOf, record }
}

test('each pod has IDs of its own, which are recorded for upstream, too', (t) => {
  const { start, fileOf } = node(t)
  const users = start()
  assert.deepEqual(users.allocate('a'), { first: unit, length: unit })
  assert.deepEqual(users.allocate('b'), { first: 2 * unit, length: unit })
  assert.deepEqual(users.allocate('a'), { first: unit, length: unit })
  const mappings = [{ hostId: 2 * unit, containerId: 0, length: unit }]
  assert.deepEqual(JSON.parse(readFileSync(fileOf('b'), 'utf8')), { uidMappings: mappings, gidMappings: mappings })
  assert.equal(statSync(fileOf('b')).mode & 0o777, 0o600)
})

test('a restarted kubelet gives no pod the IDs of another one', (t) => {
  const { start } = node(t)
  const before = start()
  before.allocate('a')
  before.allocate('b')
  const users = start()
  assert.equal(users.allocate('c').first, 3 * unit)
  assert.equal(users.allocate('a').first, unit)
  assert.equal(users.allocate('b').first, 2 * unit)
})

test('the IDs of a pod are free after its end, and used again after all others', (t) => {
  const { start, fileOf } = node(t)
  const users = start()
  for (const uid of ['a', 'b', 'c']) users.allocate(uid)
  users.release('a')
  assert.ok(!existsSync(fileOf('a')))
  assert.equal(users.allocate('d').first, 4 * unit)
  assert.equal(users.allocate('e').first, unit)
  assert.throws(() => users.allocate('f'), {
    message: 'create user namespace: could not find an empty slot to allocate a user namespace',
  })
  users.release('c')
  users.release('c')
  assert.equal(users.allocate('f').first, 3 * unit)
})

const of = (hostId: number, length = unit, containerId = 0) => [{ hostId, containerId, length }]
const invalid = 'invalid user namespace configuration:'

for (const [title, record, message] of [
  ['another length', { uidMappings: of(unit, 1), gidMappings: of(unit, 1) }, 'wrong user namespace length 1'],
  ['an odd offset', { uidMappings: of(7), gidMappings: of(7) }, 'wrong user namespace offset specified 7'],
  ['IDs of the node', { uidMappings: of(0), gidMappings: of(0) }, 'id 0 is out of range'],
  ['large IDs', { uidMappings: of(5 * unit), gidMappings: of(5 * unit) }, `id ${5 * unit} is out of range`],
  ['no users', { gidMappings: of(unit) }, `${invalid} no more than one mapping allowed.`],
  ['no groups', { uidMappings: of(unit) }, `${invalid} GID and UID mappings should be identical.`],
  [
    'other groups',
    { uidMappings: of(unit), gidMappings: of(2 * unit) },
    `${invalid} GID and UID mapping should be identical`,
  ],
  ['no root', { uidMappings: of(unit, unit, 1), gidMappings: of(unit, unit, 1) }, `${invalid} UID 0 must be mapped`],
] as const)
  test(`a record with ${title} keeps the kubelet from starting`, (t) => {
    const { start, record: write } = node(t)
    write('a', record)
    assert.throws(start, { message: `record pod mappings for existing pod "a": ${message}` })
  })

test('records that are no JSON, or of two pods with the same IDs, keep the kubelet from starting', (t) => {
  const { start, record, fileOf } = node(t)
  record('a', '{')
  assert.throws(start, { message: /^record pod mappings for existing pod "a": invalid user namespace mappings file: / })
  writeFileSync(fileOf('a'), JSON.stringify({ uidMappings: of(unit), gidMappings: of(unit) }))
  record('b', { uidMappings: of(unit), gidMappings: of(unit) })
  assert.throws(start, {
    message: 'record pod mappings for existing pod "b": range picked for pod "b" already taken',
  })
})
