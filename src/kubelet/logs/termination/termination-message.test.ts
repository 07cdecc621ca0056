import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { ContainerStatusSchema } from '#protobuf/cri-runtime_pb.js'
import { LogFolder, line } from '../testing/log-folder.fixture.ts'
import { terminationMessage } from './termination-message.ts'

test('the message is the end of its file, or of the log after an error', async (t) => {
  const log = new LogFolder(t)
  const file = join(log.root, 'message')
  const read = (policy: string, fields: MessageInitShape<typeof ContainerStatusSchema> = {}): Promise<string> =>
    terminationMessage(
      create(ContainerStatusSchema, {
        exitCode: 1,
        logPath: log.path,
        mounts: [{ containerPath: '/dev/termination-log', hostPath: file }],
        annotations: {
          'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
          'io.kubernetes.container.terminationMessagePolicy': policy,
        },
        ...fields,
      }),
      [log.root],
    )
  writeFileSync(file, '')
  assert.equal(await read('File'), '')
  assert.equal(await read('FallbackToLogsOnError', { exitCode: 0 }), '')
  const missing = await read('FallbackToLogsOnError')
  assert.match(missing, /^Error on reading termination message from logs: failed to try resolving symlinks in path/)
  for (let i = 0; i < 100; i++) log.append(line(`line ${i}`))
  const lines = (await read('FallbackToLogsOnError')).trimEnd().split('\n')
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [80, 'line 20', 'line 99'])
  log.append(line('y'.repeat(5000)))
  assert.equal(await read('FallbackToLogsOnError'), `${'y'.repeat(2047)}\n`)
  writeFileSync(file, `${'a'.repeat(5000)}end`)
  assert.equal(await read('FallbackToLogsOnError'), `${'a'.repeat(4093)}end`)
})
