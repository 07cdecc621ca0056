import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compaction } from './compaction.ts'

/** The key and the revisions of an etcd, shared by servers. */
class SharedKey {
  revision = 100
  version = 0
  value = 0
  readonly compacted: number[] = []

  server(name: string) {
    const learned: number[] = []
    const failures: unknown[] = []
    let tick = () => {}
    const compaction = new Compaction({
      intervalMs: 300_000,
      exchange: async (expected, revision) => {
        const isWon = this.version === expected
        if (isWon) {
          this.version++
          this.value = revision
          this.revision++
        }
        return { isWon, version: this.version, revision: this.revision, compacted: this.value }
      },
      compact: async (revision) => {
        if (name === 'broken') throw new Error('no space')
        this.compacted.push(revision)
      },
      learn: (revision) => learned.push(revision),
      failed: (error) => failures.push(error),
      every: (ms, run) => {
        assert.equal(ms, 300_000)
        tick = run
        return () => {
          tick = () => {}
        }
      },
    })
    const pass = async () => {
      tick()
      await new Promise(setImmediate)
    }
    return { pass, learned, failures, stop: () => compaction.stop() }
  }
}

test('a server compacts to the revision of one interval ago, and not in the first one', async () => {
  const key = new SharedKey()
  const server = key.server('a')
  await server.pass()
  assert.deepEqual(key.compacted, [])
  key.revision = 200
  await server.pass()
  assert.deepEqual(key.compacted, [101])
  key.revision = 300
  await server.pass()
  assert.deepEqual(key.compacted, [101, 201])
})

test('of several servers one compacts per interval, and another one takes over if it ends', async () => {
  const key = new SharedKey()
  const [a, b] = [key.server('a'), key.server('b')]
  await a.pass()
  await b.pass()
  key.revision = 200
  await a.pass()
  await b.pass()
  assert.deepEqual(key.compacted, [101])
  assert.deepEqual(b.learned, [0, 101])
  await a.stop()
  key.revision = 300
  await a.pass()
  await b.pass()
  assert.deepEqual(key.compacted, [101, 201])
})

test('a failed compaction is reported, and the next interval tries again', async () => {
  const key = new SharedKey()
  const server = key.server('broken')
  for (let i = 0; i < 3; i++) await server.pass()
  assert.equal(server.failures.length, 2)
  assert.equal(key.version, 3)
})
