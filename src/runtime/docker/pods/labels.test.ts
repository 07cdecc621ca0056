import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { ContainerConfigSchema, PodSandboxConfigSchema } from '#protobuf/cri-runtime_pb.js'
import { containerLabels, readContainerLabels, readSandboxLabels, sandboxLabels } from './labels.ts'
import { nanosecondsOf } from './messages.ts'
import { containerName, sandboxName } from './names.ts'

const pod = { name: 'web', namespace: 'default', uid: '1-2', attempt: 3 }

test('names are those of dockershim', () => {
  assert.equal(sandboxName(pod), 'k8s_POD_web_default_1-2_3')
  assert.equal(containerName({ name: 'nginx', attempt: 0 }, pod), 'k8s_nginx_web_default_1-2_0')
})

test('labels hold a sandbox, for the runtime and for tools', () => {
  const config = create(PodSandboxConfigSchema, { metadata: pod, labels: { app: 'web' }, annotations: { a: 'b' } })
  const labels = sandboxLabels('one', { config, createdAt: 5n, runtimeHandler: '' })
  assert.equal(labels['io.kubernetes.docker.type'], 'podsandbox')
  assert.equal(labels['annotation.a'], 'b')
  assert.deepEqual(readSandboxLabels('one', labels), { config, createdAt: 5n, runtimeHandler: '' })
  assert.equal(readSandboxLabels('other', labels), undefined)
  assert.equal(readContainerLabels('one', labels), undefined)
})

test('labels hold a container without its variables and command', () => {
  const config = create(ContainerConfigSchema, {
    metadata: { name: 'nginx' },
    envs: [{ key: 'PASSWORD', value: Buffer.from('secret') }],
    command: ['nginx'],
    logPath: 'nginx/0.log',
  })
  const user = { uid: 1, gid: 2, groups: [2, 3] }
  const labels = containerLabels('one', { config, createdAt: 6n, sandboxId: 'x', logPath: '/logs/nginx/0.log', user })
  assert.equal(labels['io.kubernetes.sandbox.id'], 'x')
  assert.equal(labels['io.kubernetes.container.logpath'], '/logs/nginx/0.log')
  const read = readContainerLabels('one', labels)
  assert.deepEqual([read?.createdAt, read?.sandboxId, read?.user], [6n, 'x', user])
  assert.deepEqual([read?.config.envs, read?.config.command, read?.config.logPath], [[], [], 'nginx/0.log'])
})

test('times of the engine are read to the nanosecond', () => {
  assert.equal(nanosecondsOf('2026-11-27T14:10:01.229126805Z'), 1795788601229126805n)
  assert.equal(nanosecondsOf('2026-11-27T15:10:01.2+01:00'), 1795788601200000000n)
  assert.equal(nanosecondsOf('0001-01-01T00:00:00Z'), 0n)
})
