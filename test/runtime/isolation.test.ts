/** Rights and limits of containers, which are the same with each executor. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NamespaceMode, SecurityProfile_ProfileType as ProfileType } from '#protobuf/cri-values_pb.js'
import { findCgroups } from '../../src/node/cgroups/tree/find-cgroups.ts'
import { textOf } from '../../src/runtime/host/processes.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { executorName } from './support/test-executor.ts'
import { TestRuntime } from './support/test-runtime.ts'

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  rightsTests(runtime)
  limitsTests(runtime)
  deviceTests(runtime)
})

/** Runs a script to its end, and returns the lines of its output. */
async function linesOf(runtime: TestRuntime, script: string, config: Parameters<TestRuntime['run']>[2]) {
  const sandbox = await runtime.sandbox()
  const id = await runtime.run(sandbox, script, config)
  await runtime.ended(id)
  return (await runtime.logOf(id)).map((line) => line.replace(/^\S+ \S+ ?/, ''))
}

const maskedPaths = ['/proc/acpi', '/proc/keys', '/proc/nothing']
const readonlyPaths = ['/proc/sys', '/proc/nothing']

function rightsTests(runtime: TestRuntime): void {
  test('a container of a user has no capabilities, its groups and no new privileges', async () => {
    const script = 'id; grep -E "NoNewPrivs|CapEff|CapBnd|CapInh|CapAmb" /proc/self/status; pwd; umask; echo $HOME'
    const securityContext = {
      runAsUser: { value: 33n },
      runAsGroup: { value: 33n },
      supplementalGroups: [77n],
      noNewPrivs: true,
    }
    assert.deepEqual(await linesOf(runtime, script, { linux: { securityContext }, workingDir: '/new/folder' }), [
      'uid=33(www-data) gid=33(www-data) groups=33(www-data),50(extra),77',
      'CapInh:\t0000000000000000',
      'CapEff:\t0000000000000000',
      'CapBnd:\t00000000a80425fb',
      'CapAmb:\t0000000000000000',
      'NoNewPrivs:\t1',
      '/new/folder',
      '0022',
      '/var/www',
    ])
  })
  test('capabilities are added, dropped and made ambient', async () => {
    const capabilities = { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'], addAmbientCapabilities: ['KILL'] }
    const securityContext = { runAsUser: { value: 33n }, capabilities }
    const lines = await linesOf(runtime, 'grep -E "Cap(Eff|Bnd|Amb)" /proc/self/status', { linux: { securityContext } })
    assert.deepEqual(lines, ['CapEff:\t0000000000000020', 'CapBnd:\t0000000000001020', 'CapAmb:\t0000000000000020'])
  })
  test('masked paths are empty, others are read-only, and devices of the host are out of reach', async () => {
    const securityContext = { maskedPaths, readonlyPaths, readonlyRootfs: true }
    const script = `
      ls /proc/acpi | wc -l; wc -c </proc/keys
      for path in /proc/sys/kernel/hostname /new /tmp/new /sys/new
      do (echo x >$path) 2>&1 | grep -o "Read-only.*"; done
      mknod /dev/disk b 259 0 && cat /dev/disk 2>&1 | grep -o "Operation.*"
      head -c 4 /dev/zero | wc -c; echo x >/dev/null && echo written; ls -l /dev/fd /dev/ptmx | wc -l
      ls /sys/fs/cgroup | grep -c memory; ls -A /proc | grep -c "^1$"`
    assert.deepEqual(await linesOf(runtime, script, { linux: { securityContext } }), [
      '0',
      '0',
      ...Array.from({ length: 4 }, () => 'Read-only file system'),
      ...['Operation not permitted', '4', 'written', '2', '1', '1'],
    ])
  })
  test('a seccomp profile denies system calls, also of commands and of root', async () => {
    const linux = { securityContext: { seccomp: { profileType: ProfileType.RuntimeDefault } } }
    const script =
      'grep Seccomp: /proc/self/status; unshare -U true 2>&1 | grep -o "Operation.*"; ' +
      'nc -l -p 4000 & until echo through | nc 127.0.0.1 4000 2>/dev/null; do sleep 0.1; done; wait; echo x | cat'
    assert.deepEqual((await linesOf(runtime, script, { linux })).sort(), [
      'Operation not permitted',
      'Seccomp:\t2',
      'through',
      'x',
    ])
    const sandbox = await runtime.sandbox()
    const id = await runtime.run(sandbox, 'sleep 1000', { linux })
    const { stdout } = await runtime.client.exec(id, ['grep', 'Seccomp:', '/proc/self/status'])
    assert.equal(Buffer.from(stdout).toString(), 'Seccomp:\t2\n')
  })
}

function limitsTests(runtime: TestRuntime): void {
  const { client } = runtime
  const linux = (megabytes: number) => ({
    resources: { memoryLimitInBytes: BigInt(megabytes << 20), cpuShares: 512n, cpuQuota: 50_000n, cpuPeriod: 100_000n },
  })
  const read = async (id: string, file: string): Promise<string> =>
    Buffer.from((await client.exec(id, ['cat', `/sys/fs/cgroup/${file}`])).stdout)
      .toString()
      .trim()

  test('limits hold from the start, change, and end with the container', async () => {
    const cgroupParent = `/t8s-test-${process.hrtime.bigint()}`
    const sandbox = await runtime.sandbox({ linux: { cgroupParent } })
    const id = await runtime.run(sandbox, 'sleep 1000', { linux: linux(64) })
    const isV2 = existsSync('/sys/fs/cgroup/cgroup.controllers')
    const memory = isV2 ? 'memory.max' : 'memory/memory.limit_in_bytes'
    assert.equal(await read(id, memory), String(64 << 20))
    assert.equal(await read(id, isV2 ? 'cpu.max' : 'cpu/cpu.cfs_quota_us'), isV2 ? '50000 100000' : '50000')
    await client.updateResources(id, linux(96).resources)
    assert.equal(await read(id, memory), String(96 << 20))
    await client.removeContainer(id)
    await client.stopSandbox(sandbox.id)
    // crun 1.8 may leave cgroups behind.
    if (executorName() !== 'crun')
      await waitFor('the cgroups of the pod are removed', () => leftIn(cgroupParent).length === 0)
    await client.removeSandbox(sandbox.id)
    await findCgroups().remove(cgroupParent)
  })
  test('a pod has users of its own, or is refused', async () => {
    const range = [{ hostId: 100_000, containerId: 0, length: 65_536 }]
    // The users of the pod pass through it.
    chmodSync(runtime.folder, 0o711)
    const usernsOptions = { mode: NamespaceMode.POD, uids: range, gids: range }
    const pod = { linux: { securityContext: { namespaceOptions: { usernsOptions } } } }
    const outcome = await runtime.sandbox(pod).then(
      () => 'runs',
      ({ message }) => message,
    )
    // runc supports them since 1.2.
    const expected = { crun: /^runs$/, runc: /^runs$|runs no pods with users of their own/ }[executorName()]
    assert.match(outcome, expected ?? /runs no pods with users of their own/)
  })
  test('all processes of a container end with its first one, also those of the host', async () => {
    const options = { linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.NODE } } } }
    const sandbox = await runtime.sandbox(options)
    const id = await runtime.run(sandbox, '(trap "" TERM; sleep 4712) & sleep 1; exit 5', options)
    assert.equal((await runtime.ended(id)).exitCode, 5)
    await waitFor('no process is left', () => !commandLines().includes('sleep 4712'))
  })
}

/** Device `one` has all edits but hooks, which device `hooked` has. */
const vendorFile = (folder: string): string => `
cdiVersion: 0.8.0
kind: vendor.com/device
containerEdits: { env: [VENDOR=shared, MODEL=unknown] }
devices:
- name: one
  containerEdits:
    env: [MODEL=one]
    additionalGids: [4711]
    deviceNodes: [{ path: /dev/vendor/one, hostPath: /dev/null, permissions: rw, fileMode: 0620, gid: 5 }]
    mounts: [{ hostPath: ${folder}/driver, containerPath: /opt/vendor, options: [ro, nosuid, rbind] }]
- name: hooked
  containerEdits:
    hooks: [{ hookName: createRuntime, path: /bin/sh, args: [sh, -c, 'cat >"$STATE"'], env: [STATE=${folder}/state] }]
`

function deviceTests(runtime: TestRuntime): void {
  const executor = executorName()
  const skip = executor === 'docker' && 'its devices are those of the Docker engine'
  test('CDI devices bring variables, groups, nodes, mounts and hooks', { skip }, async () => {
    const folder = join(runtime.folder, 'cdi')
    mkdirSync(join(folder, 'driver'), { recursive: true })
    writeFileSync(join(folder, 'driver/version'), '7\n')
    writeFileSync(join(folder, 'vendor.yaml'), vendorFile(folder))
    const script = `
      echo $VENDOR $MODEL; cat /opt/vendor/version; (echo x >/opt/vendor/new) 2>&1 | grep -o "Read-only.*"
      stat -c "%F %t:%T %a %u:%g" /dev/vendor/one; echo x >/dev/vendor/one && wc -c </dev/vendor/one; id -G`
    const annotations = { 'cdi.k8s.io/legacy': 'vendor.com/device=hooked' }
    const config = {
      CDIDevices: [{ name: 'vendor.com/device=one' }],
      annotations: executor === 'shell' ? {} : annotations,
    }
    assert.deepEqual(await linesOf(runtime, script, config), [
      ...['shared one', '7', 'Read-only file system', 'character special file 1:3 620 0:5', '0'],
      '0 4711',
    ])
    if (executor !== 'shell') assert.match(readFileSync(join(folder, 'state'), 'utf8'), /"bundle"/)
    else await assert.rejects(linesOf(runtime, '', { annotations }), /has hooks, which the executor shell does not run/)
    const missing = { CDIDevices: [{ name: 'vendor.com/device=two' }] }
    const message = /CDI device injection failed: unresolvable CDI devices vendor.com\/device=two: no spec file in/
    await assert.rejects(linesOf(runtime, '', missing), message)
  })
}

/** The cgroups in a cgroup, of all hierarchies. */
function leftIn(cgroup: string): string[] {
  const root = '/sys/fs/cgroup'
  const folders = [root, ...readdirSync(root).map((name) => join(root, name))].map((folder) => join(folder, cgroup))
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((one) => one.isDirectory())
        .map(({ name }) => name),
    )
}

const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim())
