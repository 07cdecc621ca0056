/** Security contexts of containers, by the specs of the CRI validation suite. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { MessageInitShape } from '@bufbuild/protobuf'
import type { LinuxContainerSecurityContextSchema } from '#protobuf/cri-runtime_pb.js'
import { SecurityProfile_ProfileType as ProfileType, SupplementalGroupsPolicy } from '#protobuf/cri-values_pb.js'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { TestRuntime } from './support/test-runtime.ts'

type Context = Exclude<MessageInitShape<typeof LinuxContainerSecurityContextSchema>, { $typeName: string }>

await inNamespaces(import.meta.filename, async () => {
  const runtime = await TestRuntime.start()
  const sandbox = await runtime.sandbox({ linux: { securityContext: { privileged: true } } })
  const run = (securityContext: Context) => runtime.run(sandbox, 'sleep 1000', { linux: { securityContext } })

  userTests(runtime, run)
  profileTests(runtime, run)

  test('capabilities are added and dropped, alone and all', async () => {
    const bridge = (name: string) => ['brctl', 'addbr', name] as const
    const added = await run({ capabilities: { addCapabilities: ['NET_ADMIN'] } })
    await runtime.outputOf(added, ...bridge('br1'))
    await assert.rejects(runtime.outputOf(await run({}), ...bridge('br2')), /not permitted/)
    await runtime.outputOf(await run({ capabilities: { addCapabilities: ['ALL'] } }), ...bridge('br3'))
    await runtime.outputOf(await run({ privileged: true }), ...bridge('br4'))
    const chown = ['chown', '33', '/tmp'] as const
    for (const dropCapabilities of [['CHOWN'], ['ALL']])
      await assert.rejects(
        runtime.outputOf(await run({ capabilities: { dropCapabilities } }), ...chown),
        /not permitted/,
      )
  })
  test('paths are masked and read-only, also the whole root', async () => {
    const id = await run({ maskedPaths: ['/bin/cat'], readonlyPaths: ['/tmp'] })
    await assert.rejects(runtime.outputOf(id, '/bin/cat', '/etc/passwd'), /ermission denied/)
    await assert.rejects(runtime.outputOf(id, 'touch', '/tmp/file'), /Read-only file system/)
    await runtime.outputOf(id, 'touch', '/file')
    await assert.rejects(
      runtime.outputOf(await run({ readonlyRootfs: true }), 'touch', '/file'),
      /Read-only file system/,
    )
  })
})

function userTests(runtime: TestRuntime, run: (context: Context) => Promise<string>): void {
  test('users are stated by number and name, and need to be stated with a group', async () => {
    const numbered = await run({ runAsUser: { value: 1001n }, runAsGroup: { value: 1002n } })
    assert.equal(await runtime.outputOf(numbered, 'sh', '-c', 'id -u; id -g'), '1001\n1002\n')
    assert.equal(await runtime.outputOf(await run({ runAsUsername: 'www-data' }), 'id', '-u'), '33\n')
    await assert.rejects(run({ runAsGroup: { value: 1002n } }), { code: 'InvalidArgument' })
  })
  test('groups of the image are merged with those that are stated, or left out by the strict policy', async () => {
    const user = { runAsUser: { value: 33n }, supplementalGroups: [1234n] }
    const policies = [
      [SupplementalGroupsPolicy.Merge, '33 50 1234'],
      [SupplementalGroupsPolicy.Strict, '33 1234'],
    ] as const
    for (const [supplementalGroupsPolicy, groups] of policies) {
      const id = await run({ ...user, supplementalGroupsPolicy })
      assert.equal(await runtime.outputOf(id, 'id', '-G'), `${groups}\n`)
      const linux = (await runtime.client.containerStatus(id))?.user?.linux
      assert.deepEqual(
        linux?.supplementalGroups.map(Number).sort((a, b) => a - b),
        groups.split(' ').map(Number),
      )
    }
  })
  test('a program with the set-user-ID bit gains privileges unless the container must not', async () => {
    const isProhibited = async (noNewPrivs: boolean) =>
      runtime.outputOf(await run({ noNewPrivs }), 'grep', 'NoNewPrivs', '/proc/self/status')
    assert.equal(await isProhibited(true), 'NoNewPrivs:\t1\n')
    assert.equal(await isProhibited(false), 'NoNewPrivs:\t0\n')
  })
}

function profileTests(runtime: TestRuntime, run: (context: Context) => Promise<string>): void {
  const modeOf = async (context: Context) =>
    runtime.outputOf(await run(context), 'grep', 'Seccomp:', '/proc/self/status')

  test("system calls are filtered by the runtime's profile or by none", async () => {
    assert.equal(await modeOf({ seccomp: { profileType: ProfileType.RuntimeDefault } }), 'Seccomp:\t2\n')
    assert.equal(await modeOf({ seccomp: { profileType: ProfileType.Unconfined } }), 'Seccomp:\t0\n')
    assert.equal(await modeOf({}), 'Seccomp:\t0\n')
  })
  test('system calls are filtered by a file, except for privileged containers', async () => {
    const localhostRef = join(runtime.folder, 'profile.json')
    const syscalls = [{ names: ['chmod', 'fchmodat', 'fchmodat2'], action: 'SCMP_ACT_ERRNO' }]
    writeFileSync(localhostRef, JSON.stringify({ defaultAction: 'SCMP_ACT_ALLOW', syscalls }))
    const seccomp = { profileType: ProfileType.Localhost, localhostRef }
    await assert.rejects(runtime.outputOf(await run({ seccomp }), 'chmod', '400', '/tmp'), /not permitted/)
    await runtime.outputOf(await run({ seccomp, privileged: true }), 'chmod', '400', '/tmp')
  })
}
