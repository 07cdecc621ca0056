/** `--image-source=containerd`: a pod runs an image that only containerd has. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CriImages } from '../../src/kubelet/cri/images.ts'
import { CriRuntime } from '../../src/kubelet/cri/runtime.ts'
import { startStandaloneRuntime } from '../../src/runtime/standalone-runtime.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { busyboxLayer, layerOf, writeFiles, writeImage } from '../kubelet/support/oci-image.ts'
import { startContainerd } from '../kubelet/support/runtimes/containerd.ts'
import { waitFor } from '../support/wait-for.ts'

await inNamespaces(import.meta.filename, () => {
  test('a pod runs an image of containerd, and its newer version', runFromContainerd)
})

const name = 'registry.invalid/team/app:1'

async function runFromContainerd(t: TestContext): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-source-'))
  const containerd = await startContainerd()
  t.after(() => containerd.stop())
  const importText = async (text: string): Promise<void> => {
    const archive = join(folder, 'image.tar')
    const layers = [busyboxLayer(), layerOf((root) => writeFiles(root, { text }))]
    writeImage(archive, [name], layers, { Cmd: ['cat', '/text'] })
    await containerd.importImage(archive)
  }
  execFileSync('mount', ['--make-rshared', '/'])
  const log: string[] = []
  const runtime = await startStandaloneRuntime({
    endpoint: `unix://${folder}/runtime.sock`,
    root: join(folder, 'root'),
    state: join(folder, 'state'),
    imageFolder: join(folder, 'images'),
    imageSources: [`containerd:${containerd.endpoint.slice('unix://'.length)}`],
    executor: 'shell',
    network: { mode: 'builtin', podCidr: '10.99.0.0/16', configFolder: join(folder, 'cni'), pluginFolders: [] },
    streamPort: 0,
    log: (line) => void log.push(line),
  })
  const client = new CriRuntime(`unix://${folder}/runtime.sock`)
  const images = new CriImages(`unix://${folder}/runtime.sock`)
  t.after(async () => {
    for (const { id } of await client.sandboxes()) {
      await client.stopSandbox(id)
      await client.removeSandbox(id)
    }
    client.close()
    images.close()
    await runtime.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const sandbox = { metadata: { name: 'pod', namespace: 'default', uid: 'pod' }, logDirectory: join(folder, 'logs') }
  const pod = await client.runSandbox(sandbox)
  const output = async (text: string): Promise<string> => {
    const imageRef = await images.pull(name, undefined, sandbox)
    const config = { metadata: { name: text }, image: { image: imageRef }, logPath: `${text}.log` }
    const id = await client.createContainer(pod, config, sandbox)
    await client.startContainer(id)
    const { logPath = '' } = await waitFor('the container has ended', async () => {
      const status = await client.containerStatus(id)
      return status?.state === 2 && status
    })
    return execFileSync('cut', ['-d', ' ', '-f4', logPath], { encoding: 'utf8' }).trim()
  }

  assert.equal(await images.find(name), undefined)
  await importText('first')
  // Without a pull, as pods with imagePullPolicy Never need it.
  assert.deepEqual((await images.find(name))?.repoTags, [name])
  assert.equal(await output('first'), 'first')
  await importText('second')
  assert.equal(await output('second'), 'second')
  assert.equal(log.filter((line) => line.startsWith(`the image ${name} was copied from containerd (`)).length, 2)
}
