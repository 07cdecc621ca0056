/** A runtime in the namespaces of a test, with folders of its own, and a client of it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { ContainerConfig as CriContainerConfig, PodSandboxConfig } from '#protobuf/cri-runtime_pb.js'
import { type ContainerConfig, CriRuntime, type SandboxConfig } from '../../../src/kubelet/cri/runtime.ts'
import { startDockerRuntime } from '../../../src/runtime/docker/docker-runtime.ts'
import type { PodConnectionsOptions } from '../../../src/runtime/network/pod-connections.ts'
import { type RunningRuntime, startRuntime } from '../../../src/runtime/runtime.ts'
import { DockerDaemon } from '../../support/docker-daemon.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { dockerArchive, storedImages } from './stored-images.ts'
import { executorVariable, testExecutor } from './test-executor.ts'

const pluginsOf = (folder: string) => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: '10.88.0.0/16' }]],
        routes: [{ dst: '0.0.0.0/0' }],
        dataDir: join(folder, 'networks'),
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
})

type NewSandbox = Exclude<SandboxConfig, PodSandboxConfig>
type NewContainer = Exclude<ContainerConfig, CriContainerConfig>

export class TestRuntime {
  readonly folder: string
  readonly client: CriRuntime
  readonly log: string[] = []
  #runtime: RunningRuntime | undefined
  #names = 0

  readonly #network: Partial<PodConnectionsOptions>
  readonly #docker: DockerDaemon | undefined

  private constructor(folder: string, network: Partial<PodConnectionsOptions>) {
    this.folder = folder
    this.#network = network
    this.#docker = process.env[executorVariable] === 'docker' ? new DockerDaemon(folder) : undefined
    this.client = new CriRuntime(`unix://${folder}/runtime.sock`)
  }

  /** `network` replaces the plug-ins bridge and portmap. */
  static async start(network: Partial<PodConnectionsOptions> = {}): Promise<TestRuntime> {
    const folder = mkdtempSync(join(tmpdir(), 't8s-runtime-'))
    prepareNodeNamespaces()
    mkdirSync(join(folder, 'cni'))
    writeFileSync(join(folder, 'cni/10-pods.conflist'), JSON.stringify(pluginsOf(folder)))
    const runtime = new TestRuntime(folder, network)
    after(() => runtime.#end())
    await runtime.#startDocker()
    await runtime.startServer()
    return runtime
  }

  async startServer(): Promise<void> {
    const { folder } = this
    const log = (line: string): void => void this.log.push(line)
    if (this.#docker) {
      const { address } = this.#docker
      const endpoint = `unix://${folder}/runtime.sock`
      this.#runtime = await startDockerRuntime({ endpoint, address, name: 'test', streamPort: 0, log })
      return
    }
    this.#runtime = await startRuntime({
      socket: join(folder, 'runtime.sock'),
      root: join(folder, 'root'),
      state: join(folder, 'state'),
      executor: await testExecutor(join(folder, 'state')),
      ...(await storedImages(join(folder, 'images'))),
      network: { configFolder: join(folder, 'cni'), pluginFolders: ['/usr/lib/cni'], ...this.#network },
      cdiFolders: [join(folder, 'cdi')],
      streamPort: 0,
      log,
    })
  }

  async #startDocker(): Promise<void> {
    await this.#docker?.start()
    await this.#docker?.load(await dockerArchive(join(this.folder, 'images')))
  }

  /** Stops the Docker engine, and starts it again after `meanwhile`. */
  async restartEngine(meanwhile: () => Promise<void>): Promise<void> {
    await this.#docker?.stop()
    await meanwhile()
    await this.#docker?.start()
  }

  async stopServer(): Promise<void> {
    await this.#runtime?.stop()
  }

  /** Runs a sandbox of a unique name. */
  async sandbox(config: NewSandbox = {}): Promise<{ readonly id: string; readonly config: NewSandbox }> {
    const name = `pod-${++this.#names}`
    const full: NewSandbox = {
      metadata: { name, namespace: 'default', uid: name },
      hostname: name,
      logDirectory: join(this.folder, 'logs', name),
      ...config,
    }
    return { id: await this.client.runSandbox(full), config: full }
  }

  /** Creates and starts a container that runs a script. */
  async run(
    sandbox: { readonly id: string; readonly config: SandboxConfig },
    script: string,
    config: NewContainer = {},
  ): Promise<string> {
    const name = `container-${++this.#names}`
    const full: NewContainer = {
      metadata: { name },
      image: { image: 'busybox' },
      command: ['sh', '-c', script],
      logPath: `${name}.log`,
      ...config,
    }
    const id = await this.client.createContainer(sandbox.id, full, sandbox.config)
    await this.client.startContainer(id)
    return id
  }

  /** The lines of a container's log as `STREAM TAG TEXT`. */
  async logOf(id: string): Promise<string[]> {
    const { logPath = '' } = (await this.client.containerStatus(id)) ?? {}
    return linesIn(logPath).map((line) => line.slice(line.indexOf(' ') + 1))
  }

  /** The output of a command in a container. Rejects if it fails. */
  async outputOf(id: string, ...words: readonly string[]): Promise<string> {
    const { stdout, stderr, exitCode } = await this.client.exec(id, [...words])
    if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${Buffer.from(stderr)}`)
    return Buffer.from(stdout).toString()
  }

  /** Resolves with the status when the container has ended. */
  ended(id: string) {
    return waitFor(`container ${id} has ended`, async () => {
      const status = await this.client.containerStatus(id)
      return status?.state === 2 && status
    })
  }

  async #end(): Promise<void> {
    for (const { id } of await this.client.sandboxes()) {
      await this.client.stopSandbox(id)
      await this.client.removeSandbox(id)
    }
    this.client.close()
    await this.stopServer()
    await this.#docker?.end()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function linesIn(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return text.split('\n').slice(0, -1)
}
