import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerStatus } from '../pod-types.ts'
import { loggedContainer } from './logged-container.ts'

const ended = (containerID?: string) => ({ terminated: { exitCode: 1, containerID } })
const waiting = (reason: string) => ({ waiting: { reason } })

const cases: readonly [state: object, lastState: object, isPrevious: boolean, expected: string][] = [
  [{ running: {} }, {}, false, 'now'],
  [{ running: {} }, ended('containerd://before'), true, 'before'],
  [{ running: {} }, {}, true, 'previous terminated container "app" in pod "web" not found'],
  [ended('containerd://end'), {}, false, 'end'],
  [ended(), ended('containerd://before'), false, 'before'],
  [ended(), {}, false, 'container "app" in pod "web" is terminated'],
  [waiting('CrashLoopBackOff'), ended('containerd://before'), false, 'before'],
  [waiting('ErrImagePull'), {}, false, `container "app" in pod "web" is waiting to start: image can't be pulled`],
  [
    waiting('ImagePullBackOff'),
    {},
    false,
    'container "app" in pod "web" is waiting to start: trying and failing to pull image',
  ],
  [waiting('PodInitializing'), {}, false, 'container "app" in pod "web" is waiting to start: PodInitializing'],
  [{}, {}, false, 'container "app" in pod "web" is waiting to start - no logs yet'],
]

test('the log of a container is that of its newest instance that has started', () => {
  for (const [state, lastState, isPrevious, expected] of cases) {
    const status = { name: 'app', containerID: 'containerd://now', state, lastState } as ContainerStatus
    const choose = (): string => loggedContainer('web', { containerStatuses: [status] }, 'app', isPrevious)
    if (expected.includes(' ')) assert.throws(choose, { message: expected })
    else assert.equal(choose(), expected)
  }
  assert.throws(() => loggedContainer('web', {}, 'app', false), {
    message: 'container "app" in pod "web" is not available',
  })
})
