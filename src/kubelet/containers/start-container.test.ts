import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import { type ContainerStarter, StartError, type StartRequest, startContainer } from './start-container.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u' },
  spec: {
    containers: [{ name: 'app' }],
    initContainers: [{ name: 'init' }],
    ephemeralContainers: [{ name: 'debugger' }],
  },
}

test('attempts to start containers are counted by type, and failures by reason', async () => {
  const counted: string[] = []
  const starter: Partial<ContainerStarter> = {
    image: () => Promise.reject(new StartError('ErrImagePull', 'no such image')),
    countStart: (type) => void counted.push(type),
    countFailure: (type, reason) => void counted.push(`${type} ${reason}`),
  }
  for (const name of ['app', 'init', 'debugger']) {
    const request: Partial<StartRequest> = { pod, container: { name } }
    await assert.rejects(startContainer(starter as ContainerStarter, request as StartRequest), StartError)
  }
  assert.deepEqual(counted, [
    'container',
    'container ErrImagePull',
    'init_container',
    'init_container ErrImagePull',
    'ephemeral_container',
    'ephemeral_container ErrImagePull',
  ])
})
