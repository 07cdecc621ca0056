/** The DaemonSet of `t8s flannel manifest` on a real node of `t8s up`, with an image of this checkout. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { busyboxLayer, copyFiles, layerOf, librariesOf, writeImage } from '../kubelet/support/oci-image.ts'
import { images } from '../kubelet/support/runtimes/test-images.ts'
import { run } from '../services/service-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Running, repository, t8s } from '../up/t8s-process.ts'

const image = 'registry.test/t8s:1'
/** The range from which `t8s up` gives real nodes their subnets. */
const network = '10.128.0.0/9'

/** The program as npm installs it, and Node. */
const programFiles = ['t8s', 'package.json', '.build', 'node_modules/koffi', 'node_modules/@koromix']

/** False for caches of builds. */
const filter = (path: string): boolean => !path.endsWith('-cache')

/** Imports the image into the embedded runtime. */
function importFlannelImage(folder: string): void {
  const program = layerOf(
    (root) => {
      const installed = join(root, 'usr/lib/t8s')
      mkdirSync(join(root, 'usr/bin'), { recursive: true })
      for (const path of programFiles)
        cpSync(join(repository, path), join(installed, path), { recursive: true, filter })
      symlinkSync('../lib/t8s/t8s', join(root, 'usr/bin/t8s'))
      cpSync(process.execPath, join(root, 'usr/bin/node'))
      chmodSync(join(root, 'usr/bin/node'), 0o755)
      copyFiles(root, ['/usr/sbin/nft', ...librariesOf('/usr/sbin/nft'), ...librariesOf(process.execPath)])
    },
    { compression: 0 },
  )
  const file = join(folder, 't8s.tar')
  writeImage(file, [image], [busyboxLayer(), program], {})
  const { code, stderr } = t8s(['image', 'import', file])
  assert.equal(code, 0, stderr)
}

/** Folders of the machine that get empty ones in their place. */
export const flannelFolders = ['/opt/cni/bin', '/run/flannel']

/** Checks that the DaemonSet gives pods their network, and removes it. No pod may be on the runtime's own bridge. */
export async function checkFlannelDaemonSet(cluster: Running, folder: string): Promise<void> {
  importFlannelImage(folder)
  const installed = t8s(['cni', 'install'])
  assert.equal(installed.code, 0, installed.stderr)
  for (const backend of ['vxlan', 'udp']) {
    const manifest = join(folder, `${backend}.yaml`)
    const flags = ['--image', image, '--network', network, '--backend', backend, '--nftables']
    writeFileSync(manifest, t8s(['flannel', 'manifest', ...flags]).stdout)
    run(cluster, 'apply', '-f', manifest)
    run(cluster, '-n', 'kube-flannel', 'rollout', 'status', 'daemonset/kube-flannel-ds', '--timeout=60s')
    const device = backend === 'udp' ? 'flannel0' : 'flannel.1'
    assert.match(execFileSync('ip', ['address', 'show', device], { encoding: 'utf8' }), /inet 10\.\d+\.\d+\.0\/32/)
  }
  const subnet = run(cluster, 'get', 'nodes', '-o', 'jsonpath={.items[0].spec.podCIDR}')
  const gateway = subnet.replace(/0\/24$/, '1')
  assert.equal(
    readFileSync('/run/flannel/subnet.env', 'utf8'),
    `FLANNEL_NETWORK=${network}\nFLANNEL_SUBNET=${gateway}/24\nFLANNEL_MTU=1472\nFLANNEL_IPMASQ=true\n`,
  )
  run(cluster, 'run', 'connected', `--image=${images.busybox}`, '--command', '--', 'sleep', '1000')
  run(cluster, 'wait', 'pod', 'connected', '--for=condition=Ready', '--timeout=60s')
  const address = run(cluster, 'get', 'pod', 'connected', '-o', 'jsonpath={.status.podIP}')
  assert.equal(address.replace(/\d+$/, '1'), gateway)
  assert.match(execFileSync('ip', ['route'], { encoding: 'utf8' }), new RegExp(`^${subnet} dev cni0 `, 'm'))
  assert.match(run(cluster, 'exec', 'connected', '--', 'ip', 'link', 'show', 'eth0'), /mtu 1472/)
  run(cluster, 'exec', 'connected', '--', 'ping', '-c1', '-W2', gateway)
  run(cluster, 'delete', 'pod', 'connected', '--grace-period=0', '--timeout=50s')
  run(cluster, 'delete', 'namespace', 'kube-flannel', '--timeout=50s')
  await waitFor('no flannel', () => run(cluster, 'get', 'pods', '-A', '-o', 'name') === '')
}
