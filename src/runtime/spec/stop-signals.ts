/** CRI's numbers of stop signals. */

/** The name of a signal; '' for 0, which is the image's own. */
export const stopSignalName = (number: number): string => (number > 0 ? (criSignals[number] ?? '') : '')

const criSignals: readonly string[] = [
  '',
  ...(
    'SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL ' +
    'SIGPROF SIGPWR SIGQUIT SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 ' +
    'SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ'
  ).split(' '),
  'SIGRTMIN',
  ...Array.from({ length: 15 }, (_, i) => `SIGRTMIN+${i + 1}`),
]
