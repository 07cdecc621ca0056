/** Flags of all upstream components: logs and metrics. */
import { type FlagSet, idle, works } from '../flag.ts'

const metricsFixed = 'the metrics are the same for everybody'
const plainLog = 'the log is a few lines'

export const metrics: FlagSet = {
  name: 'metrics',
  flags: [
    idle(metricsFixed, 'allow-metric-labels', 'stringToString', 'values that labels of metrics may have'),
    idle(
      metricsFixed,
      'allow-metric-labels-manifest',
      'string',
      'the file about values that labels of metrics may have',
    ),
    idle(metricsFixed, 'disabled-metrics', 'strings', 'metrics to leave out'),
    idle(metricsFixed, 'show-hidden-metrics-for-version', 'string', 'show metrics that this version hides'),
  ],
}

/** `levels` describes the levels of `-v`. */
export const logs = (levels: string): FlagSet => ({
  name: 'logs',
  flags: [
    idle(plainLog, 'log-flush-frequency', 'duration', 'how often the log is written out', '5s'),
    idle(plainLog, 'log-json-info-buffer-size', 'string', 'how much of the log waits to be written (JSON)'),
    idle(plainLog, 'log-json-split-stream', 'bool', 'write errors to stderr, the rest to stdout (JSON)'),
    idle(plainLog, 'log-text-info-buffer-size', 'string', 'how much of the log waits to be written (text)'),
    idle(plainLog, 'log-text-split-stream', 'bool', 'write errors to stderr, the rest to stdout (text)'),
    works(
      'logging-format',
      'string',
      'the form of log lines: text, with the header of klog, or json; plain lines where it is not given',
    ),
    { ...works('v', 'int', `how much to log: ${levels}`), short: 'v' },
    idle(plainLog, 'vmodule', 'string', 'how much to log, by file'),
  ],
})

/** `version` describes the version that `--version` prints. */
export const global = (version: string): FlagSet => ({
  name: 'global',
  flags: [
    { ...works('help', 'bool', 'show this help'), short: 'h' },
    works('version', 'version', `show the version of ${version}`),
  ],
})
