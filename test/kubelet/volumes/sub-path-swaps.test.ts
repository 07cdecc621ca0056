/** A container that swaps a folder with a symlink while others mount it by a sub path, on a real node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inNamespaces } from '../support/in-namespaces.ts'
import { shell, TestNode } from '../support/test-node.ts'

const victims = Array.from({ length: 10 }, (_, index) => `victim-${index}`)

/** `/mnt/proc` is there only if the node's root is mounted. */
const check = 'if test -e /mnt/proc; then echo escaped; else echo inside; fi'
const swap = 'mv link real; ln -s / link; rm link; mv real link'

await inNamespaces(import.meta.filename, () => {
  // Kubernetes 60813 and 104980: CVE-2017-1002101 and CVE-2021-25741.
  test('a symlink that is swapped during the mount of a sub path does not lead out of the volume', async () => {
    const node = await TestNode.start()
    const volumes = [{ name: 'disk', emptyDir: {} }]
    const whole = { volumeMounts: [{ name: 'disk', mountPath: '/disk' }] }
    const swapped = { volumeMounts: [{ name: 'disk', mountPath: '/mnt', subPath: 'link' }] }
    const pod = await node.create({
      name: 'swaps',
      volumes,
      initContainers: [shell('init', 'mkdir /disk/link; chmod 777 /disk/link', whole)],
      containers: [
        shell('swapper', `cd /disk; while true; do ${swap}; usleep 500; done 2>/dev/null`, whole),
        ...victims.map((name) => shell(name, check, swapped)),
      ],
    })
    await node.until(pod, 'has run all containers', ({ status }) =>
      victims.every((name) =>
        status?.containerStatuses?.some((one) => one.name === name && one.state?.terminated !== undefined),
      ),
    )
    const outputs = victims.map((name) => node.outputOf(pod, name))
    assert.deepEqual(
      outputs,
      victims.map(() => 'inside'),
    )
    await node.deleted(pod)
  })
})
