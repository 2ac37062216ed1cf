// Window joins by Esper, one statement for each query: a file of queries and one of rows in, seconds and counts out.
//
//   queries   one EPL statement a line
//   rows      event time in microseconds, stream (0 quotes, 1 trades), symbol, price; by event time; separated by tabs
//   measured  from which event time on the clock runs: before it windows are filled, and code is compiled
//
// The clock is the CPU time of the one thread that sends and evaluates; collecting garbage does not count.

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.DeploymentOptions;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

public class EsperJoins {
    public static class Tuple {
        private final String symbol;
        private final double price;

        public Tuple(String symbol, double price) {
            this.symbol = symbol;
            this.price = price;
        }

        public String getSymbol() {
            return symbol;
        }

        public double getPrice() {
            return price;
        }
    }

    public static class Quote extends Tuple {
        public Quote(String symbol, double price) {
            super(symbol, price);
        }
    }

    public static class Trade extends Tuple {
        public Trade(String symbol, double price) {
            super(symbol, price);
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<String> queries = Files.readAllLines(Path.of(arguments[0]));
        List<String> lines = Files.readAllLines(Path.of(arguments[1]));
        long measured = Long.parseLong(arguments[2]);
        long[] counts = new long[queries.size()];
        EPRuntime runtime = runtime(queries, counts);

        long[] times = new long[lines.size()];
        Tuple[] tuples = new Tuple[lines.size()];
        for (int i = 0; i < tuples.length; i++) {
            String[] parts = lines.get(i).split("\t");
            times[i] = Long.parseLong(parts[0]);
            double price = Double.parseDouble(parts[3]);
            tuples[i] = parts[1].equals("0") ? new Quote(parts[2], price) : new Trade(parts[2], price);
        }

        var clock = ManagementFactory.getThreadMXBean();
        var events = runtime.getEventService();
        long start = 0;
        int first = 0;
        for (int i = 0; i < tuples.length; i++) {
            if (start == 0 && times[i] >= measured) {
                start = clock.getCurrentThreadCpuTime();
                first = i;
            }
            if (i == 0 || times[i] != times[i - 1]) {
                events.advanceTime(times[i]);
            }
            events.sendEventBean(tuples[i], tuples[i] instanceof Quote ? "Quote" : "Trade");
        }
        double seconds = (clock.getCurrentThreadCpuTime() - start) / 1e9;
        try (PrintWriter out = new PrintWriter(arguments[3])) {
            out.println(seconds + "\t" + (tuples.length - first));
            for (long count : counts) {
                out.println(count);
            }
        }
        System.exit(0); // threads of the runtime would go on
    }

    private static EPRuntime runtime(List<String> queries, long[] counts) throws Exception {
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType("Quote", Quote.class);
        configuration.getCommon().addEventType("Trade", Trade.class);
        configuration.getCommon().getTimeSource().setTimeUnit(TimeUnit.MICROSECONDS);
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        EPRuntime runtime = EPRuntimeProvider.getRuntime("bench", configuration);
        runtime.getEventService().advanceTime(0);
        for (int i = 0; i < counts.length; i++) {
            int query = i;
            EPCompiled compiled =
                EPCompilerProvider.getCompiler().compile(queries.get(i), new CompilerArguments(configuration));
            for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
                statement.addListener((added, removed, s, r) -> counts[query] += added == null ? 0 : added.length);
            }
        }
        return runtime;
    }
}
