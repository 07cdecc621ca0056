/** Validation of probes and lifecycle hooks. */
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  required,
} from '../../../../../machinery/validation/field-error.ts'
import {
  all,
  follows,
  nonNegative,
  oneOf,
  port,
  portOrName,
  valid,
} from '../../../../../machinery/validation/field-rules.ts'
import { httpHeaderName } from '../../../../../machinery/validation/names.ts'
import type { Container, PodSpec, Probe } from '../../model.ts'

interface HttpGet {
  path?: string
  port: number | string
  scheme?: string
  httpHeaders?: { name: string }[]
}
interface Handler {
  exec?: { command?: string[] }
  httpGet?: HttpGet
  tcpSocket?: { port: number | string }
  grpc?: { port: number }
  sleep?: { seconds: number }
}

function handler(
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  path: string,
  gracePeriod?: number,
): readonly FieldError[] {
  const errors: FieldError[] = []
  let handlers = 0
  /** Validates the first handler only; rejects further ones. */
  const one = (name: string, check: () => readonly FieldError[]): void => {
    if (handlers++ > 0) errors.push(forbiddenField(`${path}.${name}`, 'may not specify more than 1 handler type'))
    else errors.push(...check())
  }
  if (exec) one('exec', () => (exec.command?.length ? valid : [required(`${path}.exec.command`)]))
  if (httpGet) one('httpGet', () => httpGetRules(httpGet, `${path}.httpGet`))
  if (tcpSocket) one('tcpSocket', () => portOrName(tcpSocket.port, `${path}.tcpSocket.port`))
  if (grpc) one('grpc', () => port(grpc.port ?? 0, `${path}.grpc.port`))
  if (sleep) one('sleep', () => sleepRules(sleep.seconds, gracePeriod, `${path}.sleep`))
  if (handlers === 0) errors.push(required(path, 'must specify a handler type'))
  return errors
}

const httpGetRules = ({ path: target, port: to, scheme, httpHeaders }: HttpGet, path: string): readonly FieldError[] =>
  all(
    target ? valid : [required(`${path}.path`)],
    portOrName(to, `${path}.port`),
    oneOf(scheme, `${path}.scheme`, ['HTTP', 'HTTPS']),
    httpHeaders ? httpHeaders.flatMap(({ name }) => follows(name, `${path}.httpHeaders`, httpHeaderName)) : valid,
  )

const sleepRules = (seconds: number, gracePeriod: number | undefined, path: string): readonly FieldError[] =>
  seconds < 0 || seconds > (gracePeriod ?? 30)
    ? [
        invalidValue(
          path,
          seconds,
          `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod ?? 30})`,
        ),
      ]
    : valid

function probe(probe: Probe, path: string): readonly FieldError[] {
  return all(
    handler(probe, path),
    nonNegative(probe.initialDelaySeconds, `${path}.initialDelaySeconds`),
    nonNegative(probe.timeoutSeconds, `${path}.timeoutSeconds`),
    nonNegative(probe.periodSeconds, `${path}.periodSeconds`),
    nonNegative(probe.successThreshold, `${path}.successThreshold`),
    nonNegative(probe.failureThreshold, `${path}.failureThreshold`),
    probe.terminationGracePeriodSeconds !== undefined && probe.terminationGracePeriodSeconds <= 0
      ? [
          invalidValue(
            `${path}.terminationGracePeriodSeconds`,
            probe.terminationGracePeriodSeconds,
            'must be greater than 0',
          ),
        ]
      : valid,
  )
}

const validateSuccessThreshold = ({ successThreshold }: Probe, path: string): readonly FieldError[] =>
  successThreshold === 1 ? valid : [invalidValue(`${path}.successThreshold`, successThreshold ?? 0, 'must be 1')]

const signals = {
  linux: [
    ...(
      'SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE ' +
      'SIGPOLL SIGPROF SIGPWR SIGQUIT'
    ).split(' '),
    ...(
      'SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM ' +
      'SIGWINCH SIGXCPU SIGXFSZ'
    ).split(' '),
    ...[
      'SIGRTMIN',
      'SIGRTMAX',
      ...Array.from({ length: 15 }, (_, i) => `SIGRTMIN+${i + 1}`),
      ...Array.from({ length: 14 }, (_, i) => `SIGRTMAX-${i + 1}`),
    ],
  ].sort(),
  windows: ['SIGKILL', 'SIGTERM'],
}

/** Validates a stop signal, which depends on the operating system (KEP-4960). */
function stopSignal(signal: string, path: string, os: string | undefined): readonly FieldError[] {
  if (!os) return [forbiddenField(path, 'may not be set for containers with empty `spec.os.name`')]
  return os === 'linux' || os === 'windows' ? oneOf(signal, path, signals[os]) : valid
}

/** Validates hooks and probes of a container. */
export function containerHandlers(
  { lifecycle, livenessProbe, readinessProbe, startupProbe }: Container,
  path: string,
  { terminationGracePeriodSeconds: gracePeriod, os }: Pick<PodSpec, 'terminationGracePeriodSeconds' | 'os'>,
): readonly FieldError[] {
  const errors: FieldError[] = []
  if (lifecycle?.postStart) errors.push(...handler(lifecycle.postStart, `${path}.lifecycle.postStart`, gracePeriod))
  if (lifecycle?.preStop) errors.push(...handler(lifecycle.preStop, `${path}.lifecycle.preStop`, gracePeriod))
  if (lifecycle?.stopSignal !== undefined)
    errors.push(...stopSignal(lifecycle.stopSignal, `${path}.lifecycle.stopSignal`, os?.name))
  if (livenessProbe)
    errors.push(
      ...probe(livenessProbe, `${path}.livenessProbe`),
      ...validateSuccessThreshold(livenessProbe, `${path}.livenessProbe`),
    )
  if (readinessProbe) {
    errors.push(...probe(readinessProbe, `${path}.readinessProbe`))
    if (readinessProbe.terminationGracePeriodSeconds !== undefined)
      errors.push(
        invalidValue(
          `${path}.readinessProbe.terminationGracePeriodSeconds`,
          readinessProbe.terminationGracePeriodSeconds,
          'must not be set for readinessProbes',
        ),
      )
  }
  if (startupProbe)
    errors.push(
      ...probe(startupProbe, `${path}.startupProbe`),
      ...validateSuccessThreshold(startupProbe, `${path}.startupProbe`),
    )
  return errors.length === 0 ? valid : errors
}
