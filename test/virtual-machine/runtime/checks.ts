/** The checks that run inside the virtual machine: pods of `t8s runtime` with each executor. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { NamespaceMode, SecurityProfile_ProfileType as ProfileType } from '#protobuf/cri-values_pb.js'
import { CriRuntime } from '../../../src/kubelet/cri/runtime.ts'
import { images } from '../../kubelet/support/runtimes/test-images.ts'
import { waitFor } from '../../support/wait-for.ts'

const socket = '/run/runtime.sock'
const program = '/opt/t8s/.build/t8s.js'
const [exited, mebibyte] = [2, 1024 * 1024]

/** A profile that lets a container do all but write. */
const readerProfile = `
profile reader flags=(attach_disconnected) {
  file,
  signal,
  deny /** w,
}
`

execFileSync('node', [program, 'image', 'import', '/busybox.tar'])
execFileSync('apparmor_parser', ['--replace', '--skip-cache'], { input: readerProfile })

for (const executor of readFileSync('/executors', 'utf8').split(' '))
  suite(executor, () => {
    const client = new CriRuntime(`unix://${socket}`)
    const linux = {
      securityContext: { namespaceOptions: { network: NamespaceMode.NODE, pid: NamespaceMode.CONTAINER } },
    }
    const pod = { metadata: { name: executor, namespace: 'default', uid: executor }, logDirectory: '/run/logs', linux }
    let runtime: ChildProcess
    let sandbox: string
    let names = 0

    before(async () => {
      mkdirSync('/run/logs', { recursive: true })
      runtime = spawn('node', [program, 'runtime', `--listen=unix://${socket}`, `--executor=${executor}`], {
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      await waitFor('the runtime serves', () => existsSync(socket))
      sandbox = await client.runSandbox(pod)
    })
    after(async () => {
      await client.stopSandbox(sandbox)
      await client.removeSandbox(sandbox)
      client.close()
      runtime.kill()
      await once(runtime, 'exit')
    })

    /** Starts a container that runs a script, and resolves with its ID. */
    async function run(script: string, resources = {}, context = {}): Promise<string> {
      const name = `c${++names}`
      const config = {
        metadata: { name },
        image: { image: images.busybox },
        command: ['sh', '-c', script],
        logPath: `${executor}-${name}.log`,
        linux: { resources, securityContext: { ...linux.securityContext, ...context } },
      }
      const id = await client.createContainer(sandbox, config, pod)
      await client.startContainer(id)
      return id
    }
    const output = async (id: string, ...words: string[]): Promise<string> =>
      Buffer.from((await client.exec(id, words)).stdout).toString()

    test('limits are those of cgroup v2, change while the container runs, and are measured', async () => {
      const limits = { memoryLimitInBytes: BigInt(64 * mebibyte), cpuQuota: 20_000n, cpuPeriod: 100_000n }
      const id = await run('sleep 1000', limits)
      const value = async (name: string): Promise<string> => (await output(id, 'cat', `/sys/fs/cgroup/${name}`)).trim()
      assert.equal(await value('memory.max'), String(64 * mebibyte))
      assert.equal(await value('cpu.max'), '20000 100000')
      await client.updateResources(id, { memoryLimitInBytes: BigInt(128 * mebibyte), cpuQuota: 50_000n })
      assert.equal(await value('memory.max'), String(128 * mebibyte))
      const usage = (await client.containerStats()).find(({ attributes }) => attributes?.id === id)
      assert.ok((usage?.memory?.workingSetBytes?.value ?? 0n) > 0n)
      assert.ok((usage?.cpu?.usageCoreNanoSeconds?.value ?? 0n) > 0n)
    })

    test('a container that needs too much memory is killed for that reason', async () => {
      const id = await run('tail /dev/zero', { memoryLimitInBytes: BigInt(32 * mebibyte) })
      const status = await waitFor('its end', async () => {
        const now = await client.containerStatus(id)
        return now?.state === exited && now
      })
      assert.deepEqual([status.reason, status.exitCode], ['OOMKilled', 137])
    })

    test('a score for lack of memory may be lowered', async () => {
      const id = await run('sleep 1000', { oomScoreAdj: -500n })
      assert.equal(await output(id, 'cat', '/proc/1/oom_score_adj'), '-500\n')
    })

    test('AppArmor confines containers and commands by the default profile', async () => {
      const id = await run('cat /proc/self/attr/current >/tmp/profile; sleep 1000', {}, { privileged: false })
      await waitFor('the profile', async () => (await output(id, 'cat', '/tmp/profile')) !== '')
      assert.equal(await output(id, 'cat', '/tmp/profile'), 'typernetes-default (enforce)\n')
      assert.equal(await output(id, 'cat', '/proc/self/attr/current'), 'typernetes-default (enforce)\n')
      const admin = await run('sleep 1000', {}, { capabilities: { addCapabilities: ['SYS_ADMIN'] } })
      const { stderr, exitCode } = await client.exec(admin, ['mount', '-t', 'tmpfs', 'none', '/tmp'])
      assert.notEqual(exitCode, 0)
      assert.match(Buffer.from(stderr).toString(), /[Pp]ermission denied/)
    })

    test('AppArmor confines containers by a profile of the machine', async () => {
      const profileOf = (localhostRef: string) => ({ apparmor: { profileType: ProfileType.Localhost, localhostRef } })
      const id = await run('sleep 1000', {}, profileOf('reader'))
      assert.equal(await output(id, 'cat', '/proc/self/attr/current'), 'reader (enforce)\n')
      const { stderr } = await client.exec(id, ['touch', '/tmp/file'])
      assert.match(Buffer.from(stderr).toString(), /Permission denied/)
      await assert.rejects(run('true', {}, profileOf('unknown')), /apparmor profile not found unknown/)
      const free = await run('sleep 1000', {}, { apparmor: { profileType: ProfileType.Unconfined } })
      assert.equal(await output(free, 'cat', '/proc/self/attr/current'), 'unconfined\n')
    })
  })
