import assert from 'node:assert/strict'
import { test } from 'node:test'
import { componentsOf, startComponents } from './components.ts'
import { Lifetime } from './lifetime.ts'

interface Parts {
  readonly size: number
  readonly store: string[]
  readonly server: { readonly of: string[] }
}

const component = componentsOf<Parts>()
const store = component({
  name: 'store',
  needs: ['size'],
  gives: ['store'],
  start({ size }, lifetime) {
    const store = Array.from({ length: size }, (_, i) => `${i}`)
    lifetime.onEnd(() => void store.push('closed'))
    return { store }
  },
})
const server = component({
  name: 'server',
  needs: ['store'],
  gives: ['server'],
  async start({ store }, lifetime) {
    await Promise.resolve()
    lifetime.onEnd((graceMs) => void store.push(`server stopped in ${graceMs}`))
    return { server: { of: store } }
  },
})

test('components start in their order, get the parts of earlier ones, and end in reverse', async () => {
  const lifetime = new Lifetime()
  const started: string[] = []
  const parts = await startComponents([store, server], { size: 1 }, lifetime, (name) => started.push(name))
  assert.deepEqual(started, ['store', 'server'])
  assert.equal(parts.server.of, parts.store)
  await lifetime.end(5)
  assert.deepEqual(parts.store, ['0', 'server stopped in 5', 'closed'])
})

test('a component before what it needs is an error that names both', async () => {
  await assert.rejects(
    startComponents([server, store], { size: 1 }, new Lifetime()),
    /^Error: component server needs store: start it after what gives them$/,
  )
})

test('the start ends with the first component that fails; what has started can be ended', async () => {
  const lifetime = new Lifetime()
  const list: string[] = []
  const first = component({
    name: 'first',
    needs: [],
    gives: [],
    start(_, lifetime) {
      lifetime.onEnd(() => void list.push('ended'))
      return {}
    },
  })
  const broken = component({
    name: 'broken',
    needs: [],
    gives: [],
    start: () => Promise.reject(new Error('no port')),
  })
  await assert.rejects(startComponents([first, broken, store], { size: 1 }, lifetime), /^Error: no port$/)
  await lifetime.end()
  assert.deepEqual(list, ['ended'])
})
