/**
 * A CSI driver for tests: volumes are folders of the test, staged and published by bind mounts; block volumes are loop
 * devices. It registers itself at a kubelet as external registrars do.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, type DescMessage, type DescService, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js'
import { NodeServiceCapability_RPC_Type as Capability, Node } from '#protobuf/csi-node_pb.js'
import { Registration } from '#protobuf/plugin-registration_pb.js'
import { linuxMounter } from '../../../src/kubelet/volumes/mounts/linux-mounter.ts'

export { Capability }

/** A request as JSON-like data, by the names of its fields. */
export type DriverRequest = Readonly<Record<string, unknown>> & {
  readonly volumeId: string
  readonly targetPath: string
  readonly stagingTargetPath: string
  readonly readonly: boolean
  readonly volumeCapability?: {
    readonly accessType: { readonly case?: string; readonly value?: { readonly volumeMountGroup?: string } }
  }
  readonly volumeContext: Readonly<Record<string, string>>
  readonly publishContext: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
}

export interface CsiTestDriverOptions {
  readonly name: string
  /** The folder of the sockets and of the volumes. */
  readonly folder: string
  /** The kubelet's folder `plugins_registry`. */
  readonly registry: string
  readonly capabilities: readonly Capability[]
}

export class CsiTestDriver {
  readonly calls: { readonly method: string; readonly request: DriverRequest }[] = []
  /** The kubelet's answers to the registration. */
  readonly registrations: { readonly pluginRegistered: boolean; readonly error: string }[] = []
  /** Fails calls of these methods with the message. */
  readonly failures = new Map<string, string>()
  readonly #options: CsiTestDriverOptions
  readonly #servers: Server[] = []

  constructor(options: CsiTestDriverOptions) {
    this.#options = options
  }

  static async start(options: CsiTestDriverOptions): Promise<CsiTestDriver> {
    const driver = new CsiTestDriver(options)
    mkdirSync(options.folder, { recursive: true })
    mkdirSync(options.registry, { recursive: true })
    await driver.#serve(join(options.folder, 'csi.sock'), Node, (method, request) => driver.#answer(method, request))
    await driver.#serve(driver.#registrationSocket, Registration, (method, request) =>
      driver.#register(method, request),
    )
    return driver
  }

  get #registrationSocket(): string {
    return join(this.#options.registry, `${this.#options.name}-reg.sock`)
  }

  stop(): void {
    for (const server of this.#servers) server.forceShutdown()
    rmSync(this.#registrationSocket, { force: true })
  }

  /** The requests of a method so far. */
  requests(method: string): readonly DriverRequest[] {
    return this.calls.filter((call) => call.method === method).map(({ request }) => request)
  }

  /** The place of a volume's content. */
  content(volumeId: string): string {
    return join(this.#options.folder, 'volumes', volumeId)
  }

  async #serve(
    socket: string,
    service: DescService,
    answer: (method: string, request: DriverRequest) => Promise<Record<string, unknown>>,
  ): Promise<void> {
    const server = new Server()
    this.#servers.push(server)
    for (const { name, input, output } of service.methods)
      server.addService(
        { [name]: unary(`/${service.typeName}/${name}`, input, output) },
        {
          [name](call: ServerUnaryCall<Message, Message>, done: sendUnaryData<Message>) {
            answer(name, call.request as unknown as DriverRequest).then(
              (value) => done(null, create(output, value)),
              (error: Error) => done({ code: status.INTERNAL, details: error.message }),
            )
          },
        },
      )
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      ),
    )
  }

  async #register(method: string, request: DriverRequest): Promise<Record<string, unknown>> {
    const { name, folder } = this.#options
    if (method === 'NotifyRegistrationStatus') {
      const { pluginRegistered, error } = request as unknown as CsiTestDriver['registrations'][number]
      this.registrations.push({ pluginRegistered, error })
      return {}
    }
    return { type: 'CSIPlugin', name, endpoint: join(folder, 'csi.sock'), supportedVersions: ['1.0.0'] }
  }

  async #answer(method: string, request: DriverRequest): Promise<Record<string, unknown>> {
    if (method === 'NodeGetCapabilities')
      return { capabilities: this.#options.capabilities.map((type) => ({ type: { case: 'rpc', value: { type } } })) }
    if (method === 'NodeGetInfo')
      return { nodeId: 'id-of-n1', maxVolumesPerNode: 7n, accessibleTopology: { segments: { 'test.csi/zone': 'z1' } } }
    this.calls.push({ method, request })
    const failure = this.failures.get(method)
    if (failure !== undefined) throw new Error(failure)
    if (method === 'NodeStageVolume') await this.#stage(request)
    else if (method === 'NodePublishVolume') await this.#publish(request)
    else if (method === 'NodeUnstageVolume') await linuxMounter.unmount(request.stagingTargetPath)
    else if (method === 'NodeUnpublishVolume') await this.#unpublish(request)
    else if (method === 'NodeGetVolumeStats') return { usage: [{ total: 100n, used: 40n, available: 60n, unit: 1 }] }
    else if (method === 'NodeExpandVolume') writeFileSync(join(this.content(request.volumeId), 'expanded'), 'yes')
    return {}
  }

  async #stage({ volumeId, stagingTargetPath, volumeCapability }: DriverRequest): Promise<void> {
    if (volumeCapability?.accessType.case === 'block') return
    await bind(this.#made(volumeId), stagingTargetPath, [])
  }

  async #publish(request: DriverRequest): Promise<void> {
    const { volumeId, targetPath, stagingTargetPath, volumeCapability, readonly } = request
    if (await isMounted(targetPath)) return
    if (volumeCapability?.accessType.case === 'block') {
      writeFileSync(targetPath, '')
      await bind(this.#device(volumeId), targetPath, [])
      return
    }
    mkdirSync(targetPath, { recursive: true })
    await bind(stagingTargetPath || this.#made(volumeId), targetPath, readonly ? ['ro'] : [])
  }

  async #unpublish({ targetPath }: DriverRequest): Promise<void> {
    await linuxMounter.unmount(targetPath)
    rmSync(targetPath, { force: true, recursive: true })
  }

  #made(volumeId: string): string {
    const folder = this.content(volumeId)
    mkdirSync(folder, { recursive: true })
    return folder
  }

  /** The loop device of a volume, whose file has the text `raw data`. */
  #device(volumeId: string): string {
    const file = join(this.#made(volumeId), 'image')
    if (!existsSync(file)) writeFileSync(file, 'raw data'.padEnd(1 << 20, '\0'))
    const present = execFileSync('losetup', ['-j', file, '-O', 'NAME', '-n'], { encoding: 'utf8' }).trim()
    return present || execFileSync('losetup', ['-f', '--show', file], { encoding: 'utf8' }).trim()
  }

  /** Frees the loop device of a volume. */
  freeDevice(volumeId: string): void {
    execFileSync('losetup', ['-d', this.#device(volumeId)])
  }
}

const isMounted = async (target: string): Promise<boolean> =>
  (await linuxMounter.list()).some((mount) => mount.target === target)

async function bind(source: string, target: string, options: readonly string[]): Promise<void> {
  if (!(await isMounted(target))) await linuxMounter.mount({ source, target, options: ['bind', ...options] })
}

const unary = (path: string, input: DescMessage, output: DescMessage) => ({
  path,
  requestStream: false as const,
  responseStream: false as const,
  requestSerialize: (message: Message) => Buffer.from(toBinary(input, message)),
  requestDeserialize: (bytes: Buffer) => fromBinary(input, bytes),
  responseSerialize: (message: Message) => Buffer.from(toBinary(output, message)),
  responseDeserialize: (bytes: Buffer) => fromBinary(output, bytes),
})
