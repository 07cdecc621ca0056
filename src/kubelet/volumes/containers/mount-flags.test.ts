import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRecursiveReadOnly, propagationOf } from './mount-flags.ts'

test('propagations are those of the runtime', () => {
  assert.deepEqual([undefined, 'None', 'HostToContainer', 'Bidirectional'].map(propagationOf), [0, 0, 1, 2])
  assert.throws(() => propagationOf('Other'), { message: 'invalid MountPropagation mode: "Other"' })
})

const mount = (fields: object) => ({ name: 'data', mountPath: '/data', readOnly: true, ...fields })
const requested =
  'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but it is'

for (const [title, fields, isSupported, expected] of [
  ['not requested', {}, true, false],
  ['disabled', { recursiveReadOnly: 'Disabled', readOnly: false }, true, false],
  ['possible', { recursiveReadOnly: 'IfPossible' }, true, true],
  ['not possible', { recursiveReadOnly: 'IfPossible' }, false, false],
  ['required', { recursiveReadOnly: 'Enabled' }, true, true],
  ['required, not supported', { recursiveReadOnly: 'Enabled' }, false, `${requested} not supported by the runtime`],
  ['a writable mount', { recursiveReadOnly: 'Enabled', readOnly: false }, true, `${requested} not read-only`],
  [
    'with propagation',
    { recursiveReadOnly: 'IfPossible', mountPropagation: 'HostToContainer' },
    true,
    `${requested} not compatible with propagation "HostToContainer"`,
  ],
  [
    'unknown',
    { recursiveReadOnly: 'Other' },
    true,
    'failed to resolve recursive read-only mode: unknown recursive read-only mode "Other"',
  ],
] as const)
  test(`recursive read-only: ${title}`, async () => {
    const result = isRecursiveReadOnly(mount(fields), async () => isSupported)
    if (typeof expected === 'string') await assert.rejects(result, { message: expected })
    else assert.equal(await result, expected)
  })
