/** The real node of `t8s up --docker`: a Docker engine runs the containers, with its images. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dataDirectoryPaths } from '../../src/cluster/data-directory.ts'
import { embeddedRuntime } from '../../src/cluster/real-node/settings/embedded-runtime.ts'
import { findCgroups } from '../../src/node/cgroups/tree/find-cgroups.ts'
import { DockerDaemon } from '../support/docker-daemon.ts'
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

/** Loads the images of tests into the engine. */
async function load(daemon: DockerDaemon, folder: string): Promise<void> {
  for (const file of writeTestImages(folder)) assert.equal(t8s(['image', 'import', file]).code, 0)
  const archive = join(folder, 'busybox-for-docker.tar')
  assert.equal(t8s(['image', 'export', images.busybox, '-o', archive]).code, 0)
  await daemon.load(readFileSync(archive))
}

await inNamespaces(import.meta.filename, () => {
  prepareNodeNamespaces(covered)
  test('t8s up runs a web server by a Docker engine', async (t) => {
    const folder = temporaryFolder(t)
    const data = join(folder, 'data')
    const daemon = new DockerDaemon(folder)
    t.after(async () => {
      await daemon.end()
      await findCgroups().remove(embeddedRuntime(dataDirectoryPaths(data).node).cgroup)
    })
    await daemon.start()
    await load(daemon, folder)
    const cluster = await up(t, [`--docker=${daemon.address}`, '--data-dir', data, '--secure-port=0'])
    await waitFor('the node is ready', () =>
      / Ready /.test(kubectl(cluster.kubeconfig, 'get', 'nodes', '--no-headers').stdout),
    )
    assert.match(run(cluster, 'get', 'nodes', '-o', 'wide'), /docker:\/\/\d/)
    const web = 'mkdir /www; echo it works >/www/index.html; echo started; exec httpd -f -p 80 -h /www'
    await waitFor('an account', () => kubectl(cluster.kubeconfig, 'get', 'serviceaccount', 'default').code === 0)
    run(cluster, 'run', 'web', `--image=${images.busybox}`, '--command', '--', 'sh', '-c', web)
    run(cluster, 'wait', 'pod', 'web', '--for=condition=Ready', '--timeout=50s')
    const address = run(cluster, 'get', 'pod', 'web', '-o', 'jsonpath={.status.podIP}')
    assert.equal(await (await fetch(`http://${address}/`)).text(), 'it works\n')
    assert.equal(run(cluster, 'exec', 'web', '--', 'cat', '/www/index.html'), 'it works\n')
    assert.equal(run(cluster, 'logs', 'web'), 'started\n')
    run(cluster, 'delete', 'pod', 'web', '--grace-period=1', '--timeout=50s')
    await waitFor(
      'no container is left',
      () => execFileSync('docker', ['-H', daemon.address, 'ps', '-aq'], { encoding: 'utf8' }) === '',
    )
    await stop(cluster)
  })
})
