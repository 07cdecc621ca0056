import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeMounter } from './fake-mounter.fixture.ts'
import { formatAndMount } from './format-and-mount.ts'
import type { Outcome } from './run-program.ts'

const mount = (options: readonly string[] = [], type = 'ext4') => ({ device: '/dev/x', target: '/t', type, options })

/** Programs with these outcomes; others succeed. */
function setUp(outcomes: Readonly<Record<string, Outcome>>) {
  const calls: string[] = []
  const run = async (program: string, args: readonly string[]) => {
    calls.push([program, ...args].join(' '))
    return outcomes[program] ?? { code: 0, output: '' }
  }
  return { calls, run, mounter: new FakeMounter() }
}

const blkid = 'blkid -p -s TYPE -s PTTYPE -o export /dev/x'
const empty = { blkid: { code: 2, output: '' } }
const ext4 = { blkid: { code: 0, output: 'DEVNAME=/dev/x\nTYPE=ext4\n' } }
const partitions = { blkid: { code: 0, output: 'DEVNAME=/dev/x\nPTTYPE=dos\n' } }

for (const [type, command] of [
  ['ext4', 'mkfs.ext4 -F -m0 /dev/x'],
  ['xfs', 'mkfs.xfs -f /dev/x'],
  ['btrfs', 'mkfs.btrfs /dev/x'],
] as const)
  test(`an empty device is formatted: ${type}`, async () => {
    const { calls, run, mounter } = setUp(empty)
    await formatAndMount(mounter, run, mount(['noatime'], type))
    assert.deepEqual(calls, [blkid, command])
    assert.deepEqual(mounter.requests, [{ source: '/dev/x', target: '/t', type, options: ['noatime', 'defaults'] }])
  })

test('a file system is checked, never formatted', async () => {
  const { calls, run, mounter } = setUp({ ...ext4, fsck: { code: 1, output: 'fixed' } })
  await formatAndMount(mounter, run, mount())
  assert.deepEqual(calls, [blkid, 'fsck -a /dev/x'])
  const readOnly = setUp(ext4)
  await formatAndMount(readOnly.mounter, readOnly.run, mount(['ro']))
  assert.deepEqual(readOnly.calls, [blkid])
})

for (const [title, outcomes, options, type, message] of [
  [
    'an empty device, read-only',
    empty,
    ['ro'],
    'ext4',
    'cannot mount unformatted disk /dev/x as we are manipulating it in read-only mode',
  ],
  [
    'a broken file system',
    { ...ext4, fsck: { code: 4, output: 'bad' } },
    [],
    'ext4',
    "'fsck' found errors on device /dev/x but could not correct them: bad",
  ],
  [
    'a failing mkfs',
    { ...empty, 'mkfs.ext4': { code: 1, output: 'no space' } },
    [],
    'ext4',
    'format of disk "/dev/x" failed: type:("ext4") errcode:(exit status 1) output:(no space)',
  ],
  [
    'an unreadable device',
    { blkid: { code: 4, output: 'io' } },
    [],
    'ext4',
    'failed to get disk format of disk /dev/x: exit status 4: io',
  ],
] as const)
  test(`${title} is not mounted`, async () => {
    const { run, mounter } = setUp(outcomes)
    await assert.rejects(formatAndMount(mounter, run, mount(options, type)), { message })
    assert.deepEqual(mounter.mounts, [])
  })

for (const [outcomes, present] of [
  [ext4, 'ext4'],
  [partitions, 'unknown data, probably partitions'],
] as const)
  test(`a device with ${present} is not formatted as another type`, async () => {
    const { calls, run, mounter } = setUp(outcomes)
    mounter.failure = new Error('wrong fs type')
    await assert.rejects(formatAndMount(mounter, run, mount([], 'xfs')), {
      message: `failed to mount the volume as "xfs", it already contains ${present}. Mount error: wrong fs type`,
    })
    assert.deepEqual(calls, [blkid, 'fsck -a /dev/x'])
  })
