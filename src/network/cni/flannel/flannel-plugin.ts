/**
 * The plug-in `flannel`: reads the file of the daemon about this node's subnet, and lets another plug-in connect the
 * pod. For `bridge`, that is this program.
 */
import { messageOf } from '../../../lib/message-of.ts'
import { defaultSubnetFile, readSubnetFile, type SubnetFile } from '../../flannel/subnet-file/subnet-file.ts'
import type { PluginConfig } from '../plugin/plugin-config.ts'
import { errorCodes, PluginError } from '../plugin/plugin-error.ts'
import { type DelegateConfig, delegateConfig, type FlannelPluginConfig, isOwn } from './delegate-config.ts'
import { runDelegate } from './run-delegate.ts'
import { StoredDelegates } from './stored-delegates.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Runs a command of this program's own plug-in. */
type RunOwn = (config: PluginConfig) => Promise<object | undefined>

export interface FlannelCall {
  readonly environment: Environment
  readonly config: FlannelPluginConfig
  /** The container's id. Throws a `PluginError` if the environment has none. */
  readonly id: () => string
  readonly runOwn: RunOwn
}

const defaultDataDirectory = '/var/lib/cni/flannel'

/** Does one command. Resolves with what goes to standard output. */
export async function runFlannelPlugin(call: FlannelCall): Promise<object | undefined> {
  const { environment, config } = call
  const stored = new StoredDelegates(config.dataDir || defaultDataDirectory)
  switch (environment.CNI_COMMAND) {
    case 'ADD': {
      const delegate = delegateConfig(config, subnetsOf(config))
      // Written first: a pod that is connected half-way is disconnected with it.
      stored.write(call.id(), delegate)
      return pass(call, delegate)
    }
    case 'DEL':
      return remove(call, stored)
    case 'CHECK': {
      const delegate = storedConfig(stored, call.id()) ?? delegateConfig(config, subnetsOf(config))
      return pass(call, { ...delegate, ...(config.prevResult && { prevResult: config.prevResult }) })
    }
    case 'GC':
      return collect(call, stored)
    case 'STATUS':
      return checkStatus(config)
    default:
      throw new PluginError(errorCodes.invalidEnvironment, `unknown CNI_COMMAND: ${environment.CNI_COMMAND ?? ''}`)
  }
}

function pass({ environment, runOwn }: FlannelCall, delegate: DelegateConfig): Promise<object | undefined> {
  const { type, ipam } = delegate
  if (isOwn(type) && (ipam?.type ?? 'host-local') === 'host-local') return runOwn(delegate)
  return runDelegate(type, environment, JSON.stringify(delegate))
}

/** Succeeds for a pod that was never connected. */
async function remove(call: FlannelCall, stored: StoredDelegates): Promise<undefined> {
  const id = call.id()
  const delegate = storedConfig(stored, id)
  if (delegate) await pass(call, delegate)
  stored.remove(id)
}

/** Removes pods that the runtime does not know, each with the configuration with which it was connected. */
async function collect(call: FlannelCall, stored: StoredDelegates): Promise<undefined> {
  const attachments = call.config['cni.dev/valid-attachments']
  if (!attachments)
    throw new PluginError(errorCodes.invalidConfiguration, 'GC needs cni.dev/valid-attachments: those that are used')
  const valid = new Set(attachments.map(({ containerID }) => containerID))
  const ids = stored.list()
  const delegates = new Map(
    ids.flatMap((id) => {
      const delegate = storedConfig(stored, id)
      return delegate?.name === call.config.name && delegate ? [[`${delegate.name} ${delegate.type}`, delegate]] : []
    }),
  )
  for (const delegate of delegates.values()) await pass(call, { ...delegate, 'cni.dev/valid-attachments': attachments })
  for (const id of ids) if (!valid.has(id) && storedConfig(stored, id)?.name === call.config.name) stored.remove(id)
}

/** As the specification wants it: 50 is the code of a plug-in that cannot connect pods now. */
function checkStatus(config: FlannelPluginConfig): undefined {
  try {
    subnetsOf(config)
  } catch (error) {
    throw new PluginError(errorCodes.notAvailable, messageOf(error))
  }
}

function subnetsOf({ subnetFile = defaultSubnetFile }: FlannelPluginConfig): SubnetFile {
  const hint = 'Check the flannel pod log for this node.'
  try {
    const found = readSubnetFile(subnetFile)
    if (found) return found
  } catch (error) {
    throw new PluginError(errorCodes.failed, `failed to load flannel 'subnet.env' file: ${messageOf(error)}. ${hint}`)
  }
  throw new PluginError(
    errorCodes.failed,
    `failed to load flannel 'subnet.env' file: open ${subnetFile}: no such file or directory. ${hint}`,
  )
}

/** A file that is no JSON, from a failure of the machine, counts as none. */
function storedConfig(stored: StoredDelegates, id: string): DelegateConfig | undefined {
  try {
    return JSON.parse(stored.read(id) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
