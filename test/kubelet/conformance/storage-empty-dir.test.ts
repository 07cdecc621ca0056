/** Tests of the conformance suite for emptyDir (`test/e2e/common/storage/empty_dir.go`), on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inNamespaces } from '../support/in-namespaces.ts'
import { shell, TestNode } from '../support/test-node.ts'

const nonRoot = 1001

interface Case {
  readonly title: string
  readonly isRoot: boolean
  readonly mode: string
  readonly medium: '' | 'Memory'
}

/** The titles are upstream's `testname`, or its code name where two tests have the same. */
const cases: readonly Case[] = [
  { title: 'EmptyDir volumes should support (root,0644,default)', isRoot: true, mode: '644', medium: '' },
  { title: 'EmptyDir volumes should support (root,0666,default)', isRoot: true, mode: '666', medium: '' },
  { title: 'EmptyDir volumes should support (root,0777,default)', isRoot: true, mode: '777', medium: '' },
  { title: 'EmptyDir volumes should support (non-root,0644,default)', isRoot: false, mode: '644', medium: '' },
  { title: 'EmptyDir volumes should support (non-root,0666,default)', isRoot: false, mode: '666', medium: '' },
  { title: 'EmptyDir volumes should support (non-root,0777,default)', isRoot: false, mode: '777', medium: '' },
  { title: 'EmptyDir, medium memory, volume mode 0644', isRoot: true, mode: '644', medium: 'Memory' },
  { title: 'EmptyDir, medium memory, volume mode 0666', isRoot: true, mode: '666', medium: 'Memory' },
  { title: 'EmptyDir, medium memory, volume mode 0777', isRoot: true, mode: '777', medium: 'Memory' },
  {
    title: 'EmptyDir, medium memory, volume mode 0644, non-root user',
    isRoot: false,
    mode: '644',
    medium: 'Memory',
  },
  {
    title: 'EmptyDir, medium memory, volume mode 0666,, non-root user',
    isRoot: false,
    mode: '666',
    medium: 'Memory',
  },
  {
    title: 'EmptyDir, medium memory, volume mode 0777, non-root user',
    isRoot: false,
    mode: '777',
    medium: 'Memory',
  },
]

const volumeOf = (medium: string) => [{ name: 'test-volume', emptyDir: { ...(medium && { medium }) } }]
const volumeMounts = [{ name: 'test-volume', mountPath: '/test-volume' }]

/** Prints `tmpfs` for a volume in memory. */
const typeOfVolume = 'stat -f -c %T /test-volume'

await inNamespaces(import.meta.filename, () =>
  describe('emptyDir', { concurrency: 6 }, async () => {
    const started = TestNode.start()

    for (const [index, { title, isRoot, mode, medium }] of cases.entries())
      test(title, async () => {
        const node = await started
        const file = '/test-volume/test-file'
        const script = `${typeOfVolume}; echo "mount-tester new file" > ${file}; chmod ${mode} ${file}
stat -c '%a %u' ${file}; cat ${file}`
        const pod = await node.create({
          name: `empty-dir-${index}`,
          volumes: volumeOf(medium),
          script,
          container: { volumeMounts, ...(!isRoot && { securityContext: { runAsUser: nonRoot } }) },
        })
        const [type, ...rest] = (await node.ended(pod)).split('\n')
        assert.equal(type === 'tmpfs', medium === 'Memory', type)
        assert.deepEqual(rest, [`${mode} ${isRoot ? 0 : nonRoot}`, 'mount-tester new file'])
      })

    for (const { title, medium } of [
      { title: 'EmptyDir, medium default, volume mode default', medium: '' },
      { title: 'EmptyDir, medium memory, volume mode default', medium: 'Memory' },
    ])
      test(title, async () => {
        const node = await started
        const pod = await node.create({
          name: `empty-dir-mode${medium.toLowerCase()}`,
          volumes: volumeOf(medium),
          script: `${typeOfVolume}; stat -c %A /test-volume`,
          container: { volumeMounts },
        })
        const [type, mode = ''] = (await node.ended(pod)).split('\n')
        assert.equal(type === 'tmpfs', medium === 'Memory', type)
        // The sticky bit does not count.
        assert.match(mode, /^drwxrwxrw[xt]$/)
      })

    test('EmptyDir, Shared volumes between containers', async () => {
      const node = await started
      const wait = 'while ! test -e /test-volume/shareddata.txt; do sleep 0.1; done; cat /test-volume/shareddata.txt'
      const write = 'cd /test-volume; echo "Hello from the busy-box sub-container" > new; mv new shareddata.txt'
      const pod = await node.create({
        name: 'pod-sharedvolume',
        volumes: volumeOf(''),
        containers: [
          shell('busybox-main-container', wait, { volumeMounts }),
          shell('busybox-sub-container', write, { volumeMounts }),
        ],
      })
      assert.equal(await node.ended(pod), 'Hello from the busy-box sub-container')
    })
  }),
)
