/** Flags about what the server tells of itself: metrics, logs, traces, profiles; and the flags of every program. */
import { type FlagSet, idle, works } from '../flag.ts'

const nodeProfiles = 'profiles are taken with Node (`node --cpu-prof`)'
const metricsFixed = 'the metrics are the same for everybody'
const plainLog = 'the log is a few plain lines'
const noTraces = 'no traces are sent'

export const features: FlagSet = {
  name: 'features',
  flags: [
    idle(nodeProfiles, 'contention-profiling', 'bool', 'note where locks are waited for'),
    idle(nodeProfiles, 'debug-socket-path', 'string', 'the socket that profiles are served on'),
    works('enable-priority-and-fairness', 'bool', 'queue requests by priority, and fairly', 'true'),
    idle(nodeProfiles, 'profiling', 'bool', 'serve /debug/pprof', 'true'),
  ],
}

export const metrics: FlagSet = {
  name: 'metrics',
  flags: [
    idle(metricsFixed, 'allow-metric-labels', 'stringToString', 'values that labels of metrics may have'),
    idle(metricsFixed, 'allow-metric-labels-manifest', 'string', 'the file about values that labels of metrics may have'),
    idle(metricsFixed, 'disabled-metrics', 'strings', 'metrics to leave out'),
    idle(metricsFixed, 'show-hidden-metrics-for-version', 'string', 'show metrics that this version hides'),
  ],
}

export const logs: FlagSet = {
  name: 'logs',
  flags: [
    idle(plainLog, 'log-flush-frequency', 'duration', 'how often the log is written out', '5s'),
    idle(plainLog, 'log-json-info-buffer-size', 'string', 'how much of the log waits to be written (JSON)'),
    idle(plainLog, 'log-json-split-stream', 'bool', 'write errors to stderr, the rest to stdout (JSON)'),
    idle(plainLog, 'log-text-info-buffer-size', 'string', 'how much of the log waits to be written (text)'),
    idle(plainLog, 'log-text-split-stream', 'bool', 'write errors to stderr, the rest to stdout (text)'),
    idle(plainLog, 'logging-format', 'string', 'the format of the log: json, text', 'text'),
    { ...works('v', 'int', 'how much to log: 0 is calm, 2 tells how long the start took'), short: 'v' },
    idle(plainLog, 'vmodule', 'string', 'how much to log, by file'),
  ],
}

export const traces: FlagSet = {
  name: 'traces',
  flags: [idle(noTraces, 'tracing-config-file', 'string', 'the file about traces')],
}

export const global: FlagSet = {
  name: 'global',
  flags: [{ ...works('help', 'bool', 'show this help'), short: 'h' }, works('version', 'version', 'show the version of the API that is served')],
}

/** What kube-apiserver lacks. */
export const own: FlagSet = {
  name: "typernetes'",
  flags: [
    works('basic-auth-file', 'string', 'passwords to accept: lines of password,user,uid,"group1,group2"; upstream dropped this flag in 1.19'),
    works('controllers', 'strings', "controllers that run in this process, as kube-controller-manager names them: '*' for all; none unless said"),
    works('data-dir', 'string', 'where data are kept when --etcd-servers is not given', '.t8s'),
  ],
}
