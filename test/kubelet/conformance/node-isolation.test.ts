/**
 * Tests of the conformance suite for privileges, kernel parameters, `/etc/hosts` and runtime classes
 * (`test/e2e/common/node/{security_context,sysctl,kubelet_etc_hosts,runtimeclass}.go`, `test/e2e/node`), on a node.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { runtimeClasses } from '../../../src/client/kinds.ts'
import type { Container } from '../../../src/kubelet/pod-types.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { busyboxLayer, layerOf, writeImage } from '../support/oci-image.ts'
import { images } from '../support/runtimes/test-images.ts'
import { shell, TestNode } from '../support/test-node.ts'

/** An image whose program `/setuid-cat` runs as root for every user. */
const setuidImage = 'registry.test/setuid:1'

await inNamespaces(import.meta.filename, () =>
  describe('isolation of pods', { concurrency: true }, async () => {
    const started = start()
    for (const define of [testSecurity, testSysctls, testHosts, testRuntimeClasses, testRejections]) define(started)
  }),
)

async function start(): Promise<TestNode> {
  const node = await TestNode.start({ scheduler: true })
  const file = join(node.root, 'setuid.tar')
  writeImage(file, [setuidImage], [busyboxLayer(), layerOf(addSetuidCat)], {})
  await node.runtime.importImage(file)
  return node
}

/** Busybox drops such privileges itself, so it is the machine's `cat`, with its libraries. */
function addSetuidCat(folder: string): void {
  copyFileSync('/bin/cat', join(folder, 'setuid-cat'))
  chmodSync(join(folder, 'setuid-cat'), 0o4755)
  const libraries = execFileSync('ldd', ['/bin/cat'], { encoding: 'utf8' }).match(/\/\S+/g) ?? []
  for (const path of libraries) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(path, join(folder, path))
    chmodSync(join(folder, path), 0o755)
  }
}

function testSecurity(started: Promise<TestNode>): void {
  test('Security Context, privileged=false.', async () => {
    const node = await started
    const pod = await node.create({
      name: 'unprivileged',
      script: 'ip link add dummy0 type dummy || true',
      container: { securityContext: { privileged: false } },
    })
    assert.match(await node.ended(pod), /Operation not permitted/)
    assert.equal((await node.read(pod)).status?.phase, 'Succeeded')
  })

  for (const [title, allowPrivilegeEscalation, effective] of [
    ['Security Context, allowPrivilegeEscalation=false.', false, '1000'],
    ['a program with the setuid bit runs as root with allowPrivilegeEscalation=true', true, '0'],
    ['a program with the setuid bit runs as root without allowPrivilegeEscalation', undefined, '0'],
  ] as const)
    test(title, async () => {
      const node = await started
      const pod = await node.create({
        name: `escalation-${allowPrivilegeEscalation ?? 'default'}`,
        container: {
          image: setuidImage,
          command: ['/setuid-cat', '/proc/self/status'],
          securityContext: { runAsUser: 1000, allowPrivilegeEscalation },
        },
      })
      const [, real, own] = /^Uid:\s+(\d+)\s+(\d+)/m.exec(await node.ended(pod)) ?? []
      assert.deepEqual([real, own], ['1000', effective])
      assert.equal((await node.read(pod)).status?.phase, 'Succeeded')
    })

  test('Security Context, test RunAsGroup at pod level', async () => {
    const node = await started
    const securityContext = { runAsUser: 1001, runAsGroup: 2002 }
    const pod = await node.create({ name: 'group', securityContext, container: { command: ['id'] } })
    assert.match(await node.ended(pod), /uid=1001 gid=2002/)
  })
}

function testSysctls(started: Promise<TestNode>): void {
  test('Sysctl, test sysctls', async () => {
    const node = await started
    const sysctls = [{ name: 'kernel.shm_rmid_forced', value: '1' }]
    const pod = await node.create({
      name: 'sysctl',
      securityContext: { sysctls },
      container: { command: ['sysctl', 'kernel.shm_rmid_forced'] },
    })
    assert.equal(await node.ended(pod), 'kernel.shm_rmid_forced = 1')
    assert.equal((await node.read(pod)).status?.phase, 'Succeeded')
  })

  test('Sysctls, reject invalid sysctls', async () => {
    const node = await started
    const sysctls = ['kernel.shmmax', 'foo-', 'kernel.shmmax.', 'bar..'].map((name) => ({ name, value: '100000000' }))
    await assert.rejects(node.create({ name: 'wrong', securityContext: { sysctls } }), ({ message }: Error) => {
      const rejected = sysctls.filter(({ name }) => message.includes(`Invalid value: "${name}"`))
      assert.deepEqual(rejected, sysctls.slice(1), message)
      return true
    })
  })
}

function testHosts(started: Promise<TestNode>): void {
  test('Kubelet, managed etc hosts', async () => {
    const node = await started
    const volumes = [{ name: 'hosts', hostPath: { path: '/etc/hosts', type: 'FileOrCreate' } }]
    const original = { name: 'hosts', mountPath: '/etc/hosts-original' }
    const script = 'cat /etc/hosts; echo; echo ---; cat /etc/hosts-original'
    const container = (name: string, ...more: readonly { readonly name: string; readonly mountPath: string }[]) =>
      shell(name, script, { volumeMounts: [original, ...more] })
    const containers: Container[] = [
      container('busybox-1'),
      container('busybox-2'),
      container('busybox-3', { name: 'hosts', mountPath: '/etc/hosts' }),
    ]
    const pod = await node.create({ name: 'test-pod', volumes, containers })
    const hostPod = await node.create({
      name: 'test-host-network-pod',
      hostNetwork: true,
      volumes,
      containers: containers.slice(0, 2),
    })
    await Promise.all([node.ended(pod), node.ended(hostPod)])
    const isManaged = (of: typeof pod, name: string): boolean => {
      const [hosts = '', hostsOriginal = ''] = node.outputOf(of, name).split('---')
      assert.ok(hosts.trim() && hostsOriginal.trim(), `${name} has seen an empty file`)
      return hosts.startsWith('# Kubernetes-managed hosts file.') && hosts.trim() !== hostsOriginal.trim()
    }
    assert.deepEqual(
      ['busybox-1', 'busybox-2', 'busybox-3'].map((name) => isManaged(pod, name)),
      [true, true, false],
    )
    assert.deepEqual(
      ['busybox-1', 'busybox-2'].map((name) => isManaged(hostPod, name)),
      [false, false],
    )
  })
}

async function createClass({ client }: TestNode, name: string, more: object = {}): Promise<void> {
  // The handler of the executor under test has its name.
  const handler = process.env.T8S_TEST_EXECUTOR ?? 'crun'
  const fields = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name }, handler }
  await client.create(runtimeClasses, { ...fields, ...more })
}

function testRuntimeClasses(started: Promise<TestNode>): void {
  /** Admission learns of a class from a watch. */
  const scheduled = async (node: TestNode, name: string) => {
    const pod = await waitFor(`the class ${name} is known`, () =>
      node.create({ name, nodeName: undefined, runtimeClassName: name, script: 'echo done' }),
    )
    // Upstream's test ends here; this runtime has the handler.
    assert.equal(await node.ended(pod), 'done')
    return node.read(pod)
  }

  test('Can schedule a pod requesting existing RuntimeClass.', async () => {
    const node = await started
    await createClass(node, 'usual')
    const { spec } = await scheduled(node, 'usual')
    assert.deepEqual([spec?.nodeName, spec?.overhead], ['n1', undefined])
  })

  test('RuntimeClass Overhead field must be respected.', async () => {
    const node = await started
    await createClass(node, 'large', { overhead: { podFixed: { cpu: '10m', memory: '1Mi' } } })
    const { spec } = await scheduled(node, 'large')
    assert.deepEqual([spec?.nodeName, spec?.overhead], ['n1', { cpu: '10m', memory: '1Mi' }])
  })

  test('a pod whose handler the runtime does not have waits with an event', async () => {
    const node = await started
    await createClass(node, 'unconfigured', { handler: 'missing-handler' })
    const pod = await waitFor('the class to be known', () =>
      node.create({ name: 'unconfigured', runtimeClassName: 'unconfigured', container: { image: images.busybox } }),
    )
    assert.match((await node.recorded(pod, 'FailedCreatePodSandBox'))[0] ?? '', /missing-handler/)
    assert.equal((await node.read(pod)).status?.phase, 'Pending')
  })
}

function testRejections(started: Promise<TestNode>): void {
  const rejection = (name: string) => ({
    code: 403,
    message: new RegExp(`is forbidden: pod rejected: RuntimeClass "${name}" not found$`),
  })

  test('Pod with the non-existing RuntimeClass is rejected.', async () => {
    const node = await started
    const pod = node.create({ name: 'no-class', runtimeClassName: 'nonexistent' })
    await assert.rejects(pod, rejection('nonexistent'))
  })

  test('Pod with the deleted RuntimeClass is rejected.', async () => {
    const node = await started
    await createClass(node, 'delete-me')
    await node.client.delete(runtimeClasses, '', 'delete-me')
    const rejected = await waitFor('the rejection', () =>
      node.create({ name: 'deleted-class', runtimeClassName: 'delete-me' }).then(
        (pod) => node.deleted(pod).then(() => false as const),
        (error: Error) => error,
      ),
    )
    await assert.rejects(Promise.reject(rejected), rejection('delete-me'))
  })
}
