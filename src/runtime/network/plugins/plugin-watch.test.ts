import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PluginWatch } from './plugin-watch.ts'

/** A folder of records, and what a watch of it does. */
function watched(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-records-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const done: string[] = []
  const lines: string[] = []
  const watch = new PluginWatch({
    folder,
    onConflict: () => {},
    watch: (bridge) => ({
      add: ({ name, addresses, hardware, namespaceFile, interfaceName }) =>
        done.push([bridge, '+', name, ...addresses, hardware, namespaceFile, interfaceName].join(' ')),
      remove: (id) => done.push(`${bridge} - ${id}`),
      close: () => done.push(`${bridge} closed`),
    }),
    log: (line) => lines.push(line),
  })
  const update = async (): Promise<string[]> => {
    await watch.update()
    return done.splice(0)
  }
  return { folder, watch, update, lines, done }
}

const record = (id: string, bridge?: string): string =>
  JSON.stringify({
    ...{ id, interfaceName: 'eth0', addresses: ['10.1.0.2'], hostPorts: [] },
    ...(bridge && {
      watched: {
        pod: { name: id, namespace: 'default', uid: id },
        ...{ bridge, hardware: '0a:58:0a:01:00:02', namespace: `/run/netns/${id}` },
      },
    }),
  })

test('pods are watched from their record on, until it is removed', async (t) => {
  const { folder, watch, update, done } = watched(t)
  assert.deepEqual(await update(), [])
  for (const network of ['one', 'two']) mkdirSync(join(folder, network))
  writeFileSync(join(folder, 'one/a:eth0.json'), record('a', 'cni0'))
  writeFileSync(join(folder, 'one/b:eth0.json'), record('b', 'cni0'))
  writeFileSync(join(folder, 'two/c:eth0.json'), record('c', 'cni1'))
  writeFileSync(join(folder, 'two/old:eth0.json'), record('old'))
  assert.deepEqual((await update()).sort(), [
    'cni0 + a 10.1.0.2 0a:58:0a:01:00:02 /run/netns/a eth0',
    'cni0 + b 10.1.0.2 0a:58:0a:01:00:02 /run/netns/b eth0',
    'cni1 + c 10.1.0.2 0a:58:0a:01:00:02 /run/netns/c eth0',
  ])
  assert.deepEqual(await update(), [])
  rmSync(join(folder, 'one/a:eth0.json'))
  assert.deepEqual(await update(), ['cni0 - a:eth0'])
  watch.close()
  assert.deepEqual(done, ['cni0 closed', 'cni1 closed'])
})

test('records that cannot be read are logged once', async (t) => {
  const { folder, update, lines } = watched(t)
  mkdirSync(join(folder, 'one'))
  writeFileSync(join(folder, 'one/a:eth0.json'), '{')
  await update()
  await update()
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /^pods of t8s cni are not watched: /)
})
