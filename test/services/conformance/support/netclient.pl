# Connects to a server of netserver.pl until its answers are as expected, and fails after 30 seconds:
#   PROTOCOL HOST PORT exactly NAME…   the last answers came from exactly these servers; without names, none answers
#   PROTOCOL HOST PORT same COUNT      so many answers in a row came from one server
#   PROTOCOL HOST PORT differ          answers came from several servers
# $SOURCE is the address that connections come from.
my ($protocol, $host, $port, $mode, @expected) = @ARGV;

sub binary6 {
  my ($left, $right) = map { [split /:/] } split(/::/, $_[0], 2);
  my $missing = 8 - @$left - @{$right || []};
  return pack('n8', map { hex } @$left, (0) x $missing, @{$right || []});
}

sub target {
  my ($name, $port) = @_;
  return pack('SnNa16N', 10, $port, 0, binary6($name), 0) if $name =~ /:/;
  my $address = gethostbyname($name) or die "no address\n";
  return pack('Sna4x8', 2, $port, $address);
}

sub ask {
  local $SIG{ALRM} = sub { die "timeout\n" };
  my $answer = eval {
    alarm 2;
    my $to = target($host, $port);
    socket(my $socket, unpack('S', $to), $protocol eq 'udp' ? 2 : 1, 0) or die "socket: $!\n";
    if ($ENV{SOURCE}) { bind($socket, target($ENV{SOURCE}, 0)) or die "source: $!\n" }
    connect($socket, $to) or die "connect: $!\n";
    syswrite($socket, $protocol eq 'udp' ? 'hostName' : "GET /hostname HTTP/1.0\r\n\r\n") or die "write: $!\n";
    my $text = '';
    if ($protocol eq 'udp') { sysread($socket, $text, 256) or die "read: $!\n" }
    else { 1 while sysread($socket, $text, 4096, length $text); $text =~ s/.*\r\n\r\n//s }
    alarm 0;
    $text;
  };
  my $error = $@;
  alarm 0;
  chomp $error;
  return defined $answer && $answer ne '' ? $answer : "error: $error";
}

sub holds {
  my @answers = @_;
  my %seen = map { $_ => 1 } @answers;
  return @answers >= $expected[0] && keys %seen == 1 && $answers[0] !~ /^error/ if $mode eq 'same';
  return (grep { !/^error/ } keys %seen) > 1 if $mode eq 'differ';
  return @answers >= 2 && !grep { !/^error/ } @answers[-2, -1] unless @expected;
  return @answers >= 6 * @expected && join(' ', sort keys %seen) eq join(' ', sort @expected);
}

my $window = $mode eq 'same' ? $expected[0] : $mode eq 'differ' ? 60 : 6 * @expected || 2;
my $deadline = time + 30;
my @answers;
while (time < $deadline) {
  push @answers, ask();
  shift @answers while @answers > $window;
  if (holds(@answers)) { print "$answers[-1]\n"; exit 0 }
  select(undef, undef, undef, 0.1) if $answers[-1] =~ /^error/;
}
print STDERR "the last answers of $protocol $host $port: @answers\n";
exit 1;
