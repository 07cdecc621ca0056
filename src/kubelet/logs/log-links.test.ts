import assert from 'node:assert/strict'
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LogLinks } from './log-links.ts'
import { LogFolder } from './testing/log-folder.fixture.ts'

const pod = { name: 'web', namespace: 'default', uid: 'u' }

test('a link has the name of pod, namespace, container and ID', async (t) => {
  const log = new LogFolder(t)
  const folder = join(log.root, 'containers')
  const links = new LogLinks(folder, (text) => log.reports.push(text))
  const container = { pod, name: 'app', id: '0123', logPath: log.path }
  await links.create(container)
  assert.match(log.reports[0]!, /^cannot create the link .*web_default_app-0123.log to the log .*0.log: ENOENT/)
  log.append('')
  await links.create(container)
  await links.create(container)
  assert.equal(readlinkSync(join(folder, 'web_default_app-0123.log')), log.path)
  await links.create({ ...container, name: 'x'.repeat(300) })
  await links.removeDangling(new Set())
  assert.deepEqual(
    readdirSync(folder).map((name) => name.length),
    [24, 255],
  )
  await links.remove(container)
  assert.equal(readdirSync(folder).length, 1)
})
