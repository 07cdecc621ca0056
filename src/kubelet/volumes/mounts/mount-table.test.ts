import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountAt, mountsOfFolder, mountsWithin, parseMountTable } from './mount-table.ts'

const table = parseMountTable(`22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:25 / /run rw,nosuid - tmpfs tmpfs rw,size=1024k
31 22 8:17 / /data rw - xfs /dev/sdb1 rw
32 22 8:17 /disks/one /pods/a/volumes/local/one rw shared:5 master:2 - xfs /dev/sdb1 rw
33 22 8:1 /srv/x /pods/b/volumes/local/two ro,relatime - ext4 /dev/sda1 rw
34 22 0:30 / /a\\040b\\134c rw - tmpfs tmpfs rw
35 22 0:31 / /run ro - tmpfs other rw
broken line
`)

test('lines of mountinfo are parsed', () => {
  assert.equal(table.length, 7)
  assert.deepEqual(table[1], {
    target: '/run',
    root: '/',
    device: '0:25',
    type: 'tmpfs',
    source: 'tmpfs',
    isReadOnly: false,
    options: ['rw', 'size=1024k'],
  })
  assert.equal(table[3]?.type, 'xfs')
  assert.equal(table[4]?.isReadOnly, true)
  assert.equal(table[5]?.target, '/a b\\c')
})

test('the topmost mount of a path is found', () => assert.equal(mountAt(table, '/run')?.source, 'other'))

test('mounts within a path come in the order of unmounting', () => {
  assert.deepEqual(
    mountsWithin(table, '/pods').map(({ target }) => target),
    ['/pods/b/volumes/local/two', '/pods/a/volumes/local/one'],
  )
  assert.deepEqual(
    mountsWithin(table, '/run').map(({ source }) => source),
    ['other', 'tmpfs'],
  )
})

test('the binds of a folder are found', () => {
  assert.deepEqual(mountsOfFolder(table, '/data/disks/one'), ['/pods/a/volumes/local/one'])
  assert.deepEqual(mountsOfFolder(table, '/srv/x'), ['/pods/b/volumes/local/two'])
  assert.deepEqual(mountsOfFolder(table, '/data/disks'), [])
})
