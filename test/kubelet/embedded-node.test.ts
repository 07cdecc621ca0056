/** The real node of `t8s up` on the runtime of the same process. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findCgroups } from '../../src/node/cgroups/tree/find-cgroups.ts'
import { prepareNodeNamespaces } from '../support/node-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running, stop, t8s, temporaryFolder, up } from '../up/t8s-process.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { images, writeTestImages } from './support/runtimes/test-images.ts'

/** Folders of the machine that get empty ones of the namespace in their place. */
const covered = ['/run/typernetes', '/var/lib/typernetes', '/etc/cni']

/** Standard output of a kubectl command that succeeds. */
function run(cluster: Running, ...args: readonly string[]): string {
  const { code, stdout, stderr } = kubectl(cluster.kubeconfig, ...args)
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}\n${cluster.output()}`)
  return stdout
}

/** The flags of a cluster whose kubelet has a port and cgroups of its own. */
function flagsIn(folder: string, cgroupRoot: string): string[] {
  const file = join(folder, 'kubelet.json')
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
  writeFileSync(file, JSON.stringify({ ...kind, cgroupRoot }))
  return ['--node-type=real', '--kubelet-config', file, '--data-dir', join(folder, 'data'), '--secure-port=0']
}

function ownCgroup(t: TestContext): string {
  const path = `/t8s-embedded-${process.pid}-${Date.now()}`
  const tree = findCgroups()
  tree.create(path)
  t.after(async () => {
    // Containers outlive a cluster, and so a test that fails.
    for (const pid of tree.processes(path)) process.kill(pid, 'SIGKILL')
    await waitFor('no process is left', () => tree.processes(path).length === 0)
    await tree.remove(path)
  })
  return path
}

const web = 'mkdir /www; echo it works >/www/index.html; echo started; exec httpd -f -p 80 -h /www'
const addressAt = 'jsonpath={.status.podIP}'

await inNamespaces(import.meta.filename, () => {
  prepareNodeNamespaces(covered)
  test('t8s up runs a web server without another runtime, and it survives a restart', async (t) => {
    const folder = temporaryFolder(t)
    const flags = flagsIn(folder, ownCgroup(t))
    for (const file of writeTestImages(folder)) {
      const { code, stderr } = t8s(['image', 'import', file])
      assert.equal(code, 0, stderr)
    }
    let cluster = await up(t, flags)
    const name = hostname().trim().toLowerCase()
    await waitFor('the node is registered', () => kubectl(cluster.kubeconfig, 'get', 'node', name).code === 0)
    run(cluster, 'wait', 'node', name, '--for=condition=Ready', '--timeout=50s')
    assert.match(run(cluster, 'get', 'node', name, '-o', 'wide'), /typernetes:\/\//)
    run(cluster, 'run', 'web', `--image=${images.busybox}`, '--command', '--', 'sh', '-c', web)
    run(cluster, 'wait', 'pod', 'web', '--for=condition=Ready', '--timeout=50s')
    const page = async () => (await fetch(`http://${run(cluster, 'get', 'pod', 'web', '-o', addressAt)}/`)).text()
    assert.equal(await page(), 'it works\n')
    assert.equal(run(cluster, 'exec', 'web', '--', 'cat', '/www/index.html'), 'it works\n')
    await stop(cluster)
    cluster = await up(t, flags)
    assert.equal(await page(), 'it works\n')
    await waitFor('the log', () => kubectl(cluster.kubeconfig, 'logs', 'web').stdout === 'started\n')
    assert.equal(run(cluster, 'get', 'pod', 'web', '-o', 'jsonpath={.status.containerStatuses[0].restartCount}'), '0')
    run(cluster, 'delete', 'pod', 'web', '--grace-period=1', '--timeout=50s')
    await waitFor(
      'no container is left',
      () => !/t8s-keeper/.test(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })),
    )
    await stop(cluster)
  })
})
