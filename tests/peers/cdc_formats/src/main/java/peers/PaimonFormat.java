package peers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.paimon.flink.action.cdc.CdcSourceRecord;
import org.apache.paimon.flink.action.cdc.TypeMapping;
import org.apache.paimon.flink.action.cdc.format.AbstractJsonRecordParser;
import org.apache.paimon.flink.action.cdc.format.canal.CanalRecordParser;
import org.apache.paimon.flink.action.cdc.format.maxwell.MaxwellRecordParser;
import org.apache.paimon.flink.sink.cdc.CdcRecord;
import org.apache.paimon.flink.sink.cdc.RichCdcMultiplexRecord;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** A parser of Paimon, as its action {@code kafka_sync_database} calls it. */
final class PaimonFormat implements Format {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final AbstractJsonRecordParser parser;

    private PaimonFormat(AbstractJsonRecordParser parser) {
        this.parser = parser;
    }

    static PaimonFormat canal() {
        return new PaimonFormat(new CanalRecordParser(TypeMapping.defaultMapping(), List.of()));
    }

    static PaimonFormat maxwell() {
        return new PaimonFormat(new MaxwellRecordParser(TypeMapping.defaultMapping(), List.of()));
    }

    @Override
    public List<Format.Change> changes(Request request) throws Exception {
        List<RichCdcMultiplexRecord> read = new ArrayList<>();
        parser.flatMap(new CdcSourceRecord(JSON.readTree(request.value())), new ListCollector<>(read));
        return read.stream().map(PaimonFormat::change).toList();
    }

    private static Format.Change change(RichCdcMultiplexRecord record) {
        CdcRecord row = record.toRichCdcRecord().toCdcRecord();
        return new Format.Change(row.kind().shortString(), (Map) row.data());
    }
}
